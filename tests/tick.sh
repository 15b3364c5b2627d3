#!/bin/sh
# sh tests/tick.sh NAME COMMAND...: run the command, and say every eight seconds that it is still at work.
name=$1
shift
(
    seconds=0
    while sleep 8; do
        seconds=$((seconds + 8))
        echo "$name: $seconds s" >&2
    done
) &
ticking=$!
"$@"
status=$?
kill $ticking 2>/dev/null
exit $status
