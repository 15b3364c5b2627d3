// Bridge bidding as a plain loop over tables, the scalar C++ that `bidzoo bench throughput` stands beside the batched
// engine: deals by (seed, board), random legal calls, rewards, masks and `openspiel480` observations, all the same bytes.
//
// g++ -O3 -march=native -shared -fPIC bridge_loop.cpp
#include <cstdint>
#include <cstring>

namespace {

constexpr int CALLS = 38, PASS = 0, DOUBLE = 1, REDOUBLE = 2, FIRST_BID = 3, MOST_CALLS = 319;
constexpr int SIZE = 480, PASSED = 4, BIDS = 8, HAND = 428;  // openspiel480
constexpr uint64_t CHOICE = 0xB71D6E;                          // stream of the choice of a deal
constexpr int64_t CLUBS = 0x1111111111111;                     // cards are rank * 4 + suit

struct Table {
    int64_t board, hands[4];
    int dealer, vulnerable, length, bid, bidder, stake, passes;
    int8_t calls[MOST_CALLS], tricks[20];
};

uint64_t next(uint64_t key) {  // SplitMix64
    uint64_t z = key + 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

int below(uint64_t key, uint64_t n) { return int(((key >> 32) * n) >> 32); }

int turn(const Table& table) { return (table.dealer + table.length) & 3; }

bool over(const Table& table) { return table.passes == (table.bid >= 0 ? 3 : 4); }

struct Deals {
    int64_t count;
    const int64_t* hands;    // [count, 4]
    const int8_t* tricks;    // [count, 20]
    const int64_t* renamed;  // [24, 4] suits
};

void deal(Table& table, int64_t board, uint64_t seed, const Deals& deals) {
    uint64_t key = next(next(next(seed) ^ uint64_t(board)) ^ CHOICE);
    int64_t index = below(key, deals.count);
    const int64_t* suits = deals.renamed + 4 * below(key = next(key), 24);
    int rotation = below(next(key), 4);
    for (int seat = 0; seat < 4; seat++) {
        int64_t hand = deals.hands[4 * index + seat], turned = (seat + rotation) & 3;
        table.hands[turned] = 0;
        for (int suit = 0; suit < 4; suit++) {
            table.hands[turned] |= (hand >> suit & CLUBS) << suits[suit];
            table.tricks[5 * turned + suits[suit]] = deals.tricks[20 * index + 5 * seat + suit];
        }
        table.tricks[5 * turned + 4] = deals.tricks[20 * index + 5 * seat + 4];
    }
    table.board = board;
    table.dealer = board % 4;
    table.vulnerable = (board + board / 4) % 4;
    table.length = table.passes = 0;
    table.bid = table.bidder = -1;
    table.stake = 1;
}

void show(const Table& table, int8_t* mask, int8_t* out) {
    bool ours = ((turn(table) - table.bidder) & 1) == 0;
    for (int call = 0; call < CALLS; call++) mask[call] = call > FIRST_BID + table.bid;
    mask[PASS] = 1;
    mask[DOUBLE] = table.bid >= 0 && table.stake == 1 && !ours;
    mask[REDOUBLE] = table.bid >= 0 && table.stake == 2 && ours;

    std::memset(out, 0, SIZE);
    int seat = turn(table);
    out[table.vulnerable >> (seat & 1) & 1] = 1;
    out[2 + (table.vulnerable >> (1 - (seat & 1)) & 1)] = 1;
    int last = -1;  // bid
    for (int t = 0; t < table.length; t++) {
        int call = table.calls[t], who = (table.dealer - seat + t) & 3;
        if (call >= FIRST_BID) {
            last = call - FIRST_BID;
            out[BIDS + 12 * last + who] = 1;
        } else if (call != PASS) {
            out[BIDS + 12 * last + 4 * call + who] = 1;
        } else if (last < 0) {
            out[PASSED + who] = 1;
        }
    }
    for (int card = 0; card < 52; card++) out[HAND + card] = table.hands[seat] >> card & 1;
}

int points(const Table& table) {  // of N/S; Law 77
    if (table.bid < 0) return 0;
    int strain = table.bid % 5, level = table.bid / 5 + 1, declarer = -1;
    for (int t = 0; declarer < 0; t++) {
        int call = table.calls[t], seat = (table.dealer + t) & 3;
        if (call >= FIRST_BID && (call - FIRST_BID) % 5 == strain && ((seat - table.bidder) & 1) == 0) declarer = seat;
    }
    bool vulnerable = table.vulnerable >> (declarer & 1) & 1;
    int extra = table.tricks[5 * declarer + strain] - 6 - level, score;
    if (extra >= 0) {
        int each = strain < 2 ? 20 : 30, bid = (each * level + (strain == 4 ? 10 : 0)) * table.stake;
        score = bid + (bid < 100 ? 50 : vulnerable ? 500 : 300);
        if (level == 6) score += vulnerable ? 750 : 500;
        if (level == 7) score += vulnerable ? 1500 : 1000;
        score += table.stake == 1 ? extra * each : (25 + extra * (vulnerable ? 100 : 50)) * table.stake;
    } else if (table.stake == 1) {
        score = extra * (vulnerable ? 100 : 50);
    } else {
        int down = -extra, more = down > 3 ? down - 3 : 0;
        score = -(vulnerable ? 300 * down - 100 : 200 * down - 100 + 100 * more) * table.stake / 2;
    }
    return declarer % 2 ? -score : score;
}

int choose(const int8_t* mask, uint64_t key) {
    int count = 0;
    for (int call = 0; call < CALLS; call++) count += mask[call];
    int nth = below(key, count);
    for (int call = 0;; call++)
        if (mask[call] && nth-- == 0) return call;
}

}  // namespace

extern "C" {

int64_t table_size() { return sizeof(Table); }

void begin(Table* tables, int64_t count, uint64_t seed, const Deals* deals, int8_t* mask, int8_t* observation) {
    for (int64_t b = 0; b < count; b++) {
        deal(tables[b], b, seed, *deals);
        show(tables[b], mask + CALLS * b, observation + SIZE * b);
    }
}

// One random call at every table; a finished one is dealt its next board.
void step(Table* tables, int64_t count, uint64_t seed, const Deals* deals, uint64_t* keys, int8_t* mask,
          int8_t* observation, float* reward) {
    for (int64_t b = 0; b < count; b++) {
        Table& table = tables[b];
        int call = choose(mask + CALLS * b, keys[b] = next(keys[b]));
        if (call >= FIRST_BID) {
            table.bid = call - FIRST_BID;
            table.bidder = turn(table);
            table.stake = 1;
        } else if (call != PASS) {
            table.stake *= 2;
        }
        table.passes = call == PASS ? table.passes + 1 : 0;
        table.calls[table.length++] = call;
        float gain = 0;
        if (over(table)) {
            gain = points(table);
            deal(table, table.board + count, seed, *deals);
        }
        for (int player = 0; player < 4; player++) reward[4 * b + player] = player % 2 ? 0 - gain : gain;
        show(table, mask + CALLS * b, observation + SIZE * b);
    }
}
}
