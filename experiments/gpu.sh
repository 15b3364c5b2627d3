#!/bin/sh
# What to do with a GPU for half an hour, what is worth most first. Each step takes at most nine minutes; several at once
# share it well, each on BIDZOO_THREADS of the processor:
#
#     sh experiments/gpu.sh selfplay    # how many decisions a second: result file
#     sh experiments/gpu.sh a2c         # from a2c-bridge, big batches, in three stages: weights (DEALS: estimated deals)
#     sh experiments/gpu.sh rl          # from rl, big batches, in two stages: weights (DEALS: estimated deals)
#     sh experiments/gpu.sh rl-paper    # from sl, as Table I of belief Monte Carlo search has it: weights (START, DEALS)
#     sh experiments/gpu.sh distil      # a student of rpi, 4 x 1024: weights
#     sh experiments/gpu.sh rpi         # from rpi, or a student (START), against 13 agents and 12 past selves: weights
#     sh experiments/gpu.sh ppo         # from ppo, big batches, against past selves and the open experts: weights
#     sh experiments/gpu.sh sl          # the 4 x 2048 network of belief Monte Carlo search: weights (AUCTIONS: a file)
#
# What is worth keeping goes to $OUT. With SMALL=1 all of it runs in a minute on a processor, to try the script.
set -eu
step=$1
out=${OUT:-runs/gpu}
work=runs/gpu-work/$step
mkdir -p "$out" "$work"
bidzoo="${PYTHON:-python3} -m bidzoo"
export BIDZOO_COMPILE=now

if [ "${SMALL:-0}" = 1 ]; then
    device=cpu limit=300 selfplay="--network none --network 2x16 --boards 64"
    rpi="--boards 4 --every 1 --set iterations=2 --set boards=48 --set minibatch=64 --set snapshot_every=1" estimated=20
    distil="--width 16 --depth 2 --boards 4 --every 1 --set iterations=2 --set boards=16 --set minibatch=64"
    ppo="--boards 4 --every 1 --set iterations=2 --set boards=16 --set minibatch=64"
    sl="--width 32 --depth 2 --every 2 --set steps=4 --set batch=64"
    pairs="--boards 4 --every 1 --set syncs=2 --set boards=16 --set minibatch=64 --set burn_in=200 --set capacity=500"
    a2c="$pairs --set differing=true"
    rl="$pairs --set sync=2 --set value_width=16" paper="$pairs --set sync=2 --set value_width=16 --set value_depth=4"
else
    device=cuda limit=520 selfplay="--boards 16384 --boards 65536 --boards 262144"
    rpi="--boards 8000 --every 10 --set iterations=400 --set boards=65536 --set minibatch=16384 --set snapshot_every=10"
    estimated=900000 distil="--boards 8000 --every 20 --set iterations=300 --set boards=65536 --set minibatch=8192"
    ppo="--boards 8000 --every 5 --set iterations=400 --set boards=65536 --set minibatch=16384 --set learning_rate=2e-4"
    sl="--width 2048 --depth 4 --activation gelu --every 1000 --set steps=20000 --set batch=8192"
    pairs="--boards 4000 --every 10 --set syncs=100000 --set burn_in=100000 --set capacity=300000"
    a2c="$pairs --set boards=16384 --set minibatch=4096 --set differing=true"
    paper="--boards 4000 --every 100 --set syncs=250000 --set boards=900 --set value_width=2048 --set value_depth=4"
    rl="$pairs --set boards=8192 --set minibatch=8192 --set sync=20 --set value_width=1024 --set value_depth=3"
fi

# A stage of a run, stopped by the clock: ALGORITHM NAME START HUNDREDTHS-OF-THE-TIME OPTIONS
stage() {
    learned=$1 name=$2 from=$3 share=$4
    shift 4
    timeout --signal=INT $((limit * share / 100)) $bidzoo train "$learned" --device $device --start "$from" \
        ${DEALS:+--deals "$DEALS"} --deals experiments/deals/more-train.npz "$@" --out "$work/$name" || true
    cp "$work/$name/network.safetensors" "$out/$learned.safetensors"
    cp "$work/$name/curves.csv" "$out/$learned-$name.csv"
}

case $step in
selfplay)
    ${PYTHON:-python3} experiments/bridge_selfplay.py --device $device $selfplay --json "$out/selfplay.json"
    ;;
a2c)
    stage a2c 1 "${START:-a2c-bridge}" 45 $a2c --set learning_rate=1e-4 --set average=0.97 --set entropy=0.02
    stage a2c 2 "$work/1/network.safetensors" 30 $a2c --set learning_rate=3e-5 --set average=0.98 --set entropy=0.02
    stage a2c 3 "$work/2/network.safetensors" 23 $a2c --set learning_rate=1e-5 --set average=0.985 --set entropy=0.01
    ;;
rl)
    stage rl 1 "${START:-rl}" 60 $rl --set policy_rate=3e-5 --set average=0.99 --set warm_up=20
    stage rl 2 "$work/1/network.safetensors" 38 $rl --set policy_rate=1e-5 --set average=0.99 --set warm_up=10
    ;;
rl-paper)
    stage rl paper "${START:-sl}" 98 $paper --set value=bmcs636 --set warm_up=0 --set average=0 --set optimiser=adan \
        --set policy_rate=1.3e-5 --set value_rate=1.3e-4
    mv "$out/rl.safetensors" "$out/rl-paper.safetensors"
    ;;
distil)
    timeout --signal=INT $limit ${PYTHON:-python3} experiments/train.py distil --device $device --start "${START:-rpi}" $distil \
        --deals experiments/deals/more-train.npz --against expert-sayc --against expert-21gf --out "$work" || true
    cp "$work/network.safetensors" "$out/distil.safetensors"
    cp "$work/curves.csv" "$out/distil.csv"
    ;;
rpi)
    [ -e "$work/estimated.npz" ] || $bidzoo deals estimate $estimated --seed 77004 --out "$work/estimated.npz"
    timeout --signal=INT $limit $bidzoo train rpi --device $device --start "${START:-rpi}" --deals "$work/estimated.npz" $rpi \
        --opponent sl --opponent expert-sayc --opponent expert-21gf --opponent expert-light --opponent jps-bridge \
        --opponent experiments/weights/a2c-rpi.safetensors --opponent ppo --opponent rl --opponent a2c-bridge --opponent pi \
        --opponent expert-sayc --opponent expert-21gf --opponent baseline19 --set past=12 --set self_play=0.3 --set contested=0.7 --set draws=16 \
        --set start_unit=0.25 --set learning_rate=1e-4 --set average=0.9995 \
        --against expert-sayc --against expert-21gf --out "$work/run" || true
    cp "$work/run/network.safetensors" "$out/rpi.safetensors"
    cp "$work/run/curves.csv" "$out/rpi.csv"
    ;;
ppo)
    # stopped by the clock, not by its length: the curve and the best weights so far are what comes back
    timeout --signal=INT $limit $bidzoo train ppo --device $device --start "${START:-ppo}" --reference sl $ppo \
        --opponent expert-sayc --opponent expert-21gf --opponent expert-light --set pool=0.2 --set self_play=0.4 \
        --set anchor=0.01 --set min_prob=0.01 --set average=0.95 --against expert-sayc --against expert-21gf \
        --against expert-light --out "$work" || true
    cp "$work/best.safetensors" "$out/ppo.safetensors"
    cp "$work/curves.csv" "$out/ppo.csv"
    ;;
sl)
    timeout --signal=INT $limit $bidzoo train sl "$AUCTIONS" --device $device $sl --out "$work" || true
    cp "$work/network.safetensors" "$out/sl.safetensors"
    cp "$work/curves.csv" "$out/sl.csv"
    ;;
*)
    echo "unknown step $step: selfplay, a2c, rl, rl-paper, distil, rpi, ppo or sl" >&2
    exit 2
    ;;
esac
