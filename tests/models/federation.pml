/* The merge of federation and the life of a deletion (controller/federation, decision 0271), for one object and a hub
 * (replica 0) with two spokes. `script/check-models` has Spin look at every state.
 *
 * A version is a bit; its past is the set of versions that it replaces, itself among them. A replica has the set of
 * siblings, and for each neighbour what that has acknowledged. Frames arrive in order: an exchange is one step here, as a
 * link that parts is one where no step is taken. What is modelled beside the merge is what can bring back a deleted object:
 * when a deletion is forgotten, a backup of a spoke, and the comparison with a whole list after it.
 */

#define REPLICAS 3
#ifndef WRITES
#define WRITES 3  /* by users */
#endif
#define VERSIONS (WRITES + 1)  /* and one by the comparison */

#define BIT(v) (1 << (v))
#define HAS(set, v) (((set) >> (v)) & 1)

byte past[VERSIONS];     /* of each version */
byte deletions;        /* set of versions */
byte written;          /* how many there are */
byte by_users;
byte lost;             /* set of versions that were on the disk of the restored spoke alone */

byte held[REPLICAS];   /* siblings */
byte acked[9];         /* [a * 3 + b]: what b is known by a to have, or to have had */
byte settled[9];       /* [a * 3 + b]: deletions of a that all neighbours of b have seen */
bool stale;            /* the spoke that was restored compares before it sends */
bool restored;
byte backup_held;
byte backup_acked;
bool backed_up;

byte v; byte other; byte first; byte gone;
bool replaced;

/* Puts version v into the siblings of r. */
inline merge(r, v) {
  d_step {
    other = 0;
    replaced = false;
    do
    :: other < written ->
       if
       :: HAS(held[r], other) && other != v && HAS(past[other], v) -> replaced = true
       :: else
       fi;
       other++
    :: else -> break
    od;
    if
    :: !replaced ->
       other = 0;
       do
       :: other < written ->
          if
          :: HAS(held[r], other) && other != v && HAS(past[v], other) -> held[r] = held[r] & ~BIT(other)
          :: else
          fi;
          other++
       :: else -> break
       od;
       held[r] = held[r] | BIT(v)
    :: else
    fi
  }
}

/* The winner: by age, as OldestWins. Numbers are given in the order of time. */
inline winner(r) {
  first = 0;
  do
  :: first < VERSIONS && !HAS(held[r], first) -> first++
  :: else -> break
  od
}

/* r writes over its winner; losers stay. */
inline write(r, deletes) {
  d_step {
    winner(r);
    past[written] = BIT(written);
    if
    :: first < VERSIONS -> past[written] = past[written] | past[first]; held[r] = held[r] & ~BIT(first)
    :: else
    fi;
    held[r] = held[r] | BIT(written);
    if
    :: deletes -> deletions = deletions | BIT(written)
    :: else
    fi;
    written++;
    by_users++;
    first = 0
  }
}

/* a sends b what b is not known to have, and learns that b has it: up to a sequence number of a, and so everything that a
 * had before. */
inline exchange(a, b) {
  d_step {
    v = 0;
    do
    :: v < written ->
       if
       :: HAS(held[a], v) && !HAS(acked[a * 3 + b], v) ->
          merge(b, v);
          acked[a * 3 + b] = acked[a * 3 + b] | past[v];
          acked[b * 3 + a] = acked[b * 3 + a] | BIT(v)
       :: else
       fi;
       v++
    :: else -> break
    od;
    v = 0; other = 0; replaced = false
  }
}

/* Digests differ: a sends b what b does not list, whatever was acknowledged. Not before
 * everything was acknowledged in its order: what comes by this way does not count as processed. Objects that are deleted do
 * not count in digests, but a deletion answers a list that has what it replaces. */
inline repair(a, b) {
  d_step {
    if
    :: (held[a] & ~acked[a * 3 + b]) == 0 && held[a] != held[b] && ((held[a] & ~deletions) != 0 || (held[b] & ~deletions) != 0) ->
       gone = held[b];
       v = 0;
       do
       :: v < written ->
          if
          :: HAS(held[a], v) && !HAS(gone, v) ->
             merge(b, v);
             acked[b * 3 + a] = acked[b * 3 + a] | BIT(v)
          :: else
          fi;
          v++
       :: else -> break
       od
    :: else
    fi;
    v = 0; gone = 0; other = 0; replaced = false
  }
}

/* The restored spoke s compares with the whole list of the hub: what the hub is known to have had, and does not list, is
 * replaced by a new deletion. */
inline compare(s) {
  d_step {
    gone = held[s] & acked[s * 3] & ~held[0] & ~deletions;
    v = 0;
    do
    :: v < written ->
       if
       :: HAS(held[0], v) -> merge(s, v); acked[s * 3] = acked[s * 3] | BIT(v); acked[s] = acked[s] | BIT(v)
       :: else
       fi;
       v++
    :: else -> break
    od;
    gone = gone & held[s];
    if
    :: gone != 0 ->
       past[written] = BIT(written);
       v = 0;
       do
       :: v < written ->
          if
          :: HAS(gone, v) -> past[written] = past[written] | past[v]
          :: else
          fi;
          v++
       :: else -> break
       od;
       held[s] = (held[s] & ~gone) | BIT(written);
       deletions = deletions | BIT(written);
       written++
    :: else
    fi;
    v = 0; gone = 0; other = 0; replaced = false
  }
}

#define ALL_DELETED(r) (held[r] != 0 && (held[r] & ~deletions) == 0)
#define SEEN_BY_ALL_OF(r, set) ((r != 0 && (set & ~acked[r * 3]) == 0) || \
                                (r == 0 && (set & ~acked[1]) == 0 && (set & ~acked[2]) == 0 && !stale))

/* a asks b whether its neighbours have seen the deletions; b says so too where it has none of them any more. */
inline settle(a, b) {
  d_step {
    v = 0;
    do
    :: v < written ->
       if
       :: HAS(held[a] & deletions & acked[a * 3 + b], v) && (!HAS(held[b], v) || SEEN_BY_ALL_OF(b, BIT(v))) ->
          settled[a * 3 + b] = settled[a * 3 + b] | BIT(v)
       :: else
       fi;
       v++
    :: else -> break
    od;
    v = 0
  }
}

/* Nothing that somebody has replaced is alive anywhere once everybody has told everybody. */
inline check() {
  d_step {
    assert(held[0] == held[1] || (ALL_DELETED(0) || held[0] == 0) && (ALL_DELETED(1) || held[1] == 0));
    assert(held[0] == held[2] || (ALL_DELETED(0) || held[0] == 0) && (ALL_DELETED(2) || held[2] == 0));
    v = 0;
    do
    :: v < written ->
       replaced = false;
       gone = false;
       other = 0;
       do
       :: other < written ->
          if
          :: other != v && HAS(past[other], v) -> replaced = true; gone = gone || !HAS(lost, other)
          :: else
          fi;
          other++
       :: else -> break
       od;
       /* Not lost, and not there again. */
       assert(HAS(lost, v) || replaced || HAS(deletions, v) || HAS(held[0], v));
       assert(!(gone && HAS(held[0], v) && !HAS(deletions, v)));
       v++
    :: else -> break
    od;
    v = 0; gone = 0; other = 0; replaced = false
  }
}

active proctype federation() {
  byte r;
  do
  :: by_users < WRITES -> select(r : 0 .. 2); write(r, false); r = 0
  :: by_users < WRITES ->
     select(r : 0 .. 2);
     winner(r);
     if
     :: first < VERSIONS && !HAS(deletions, first) -> write(r, true)
     :: else
     fi;
     r = 0; first = 0
  :: exchange(0, 1)
  :: !stale -> exchange(1, 0)
  :: exchange(0, 2)
  :: exchange(2, 0)
  :: !stale -> repair(1, 0)
  :: !stale -> repair(0, 1)
  :: repair(2, 0)
  :: repair(0, 2)
  :: settle(0, 1)
  :: settle(0, 2)
  :: settle(1, 0)
  :: settle(2, 0)
  /* A deletion is forgotten. */
  :: ALL_DELETED(0) && SEEN_BY_ALL_OF(0, held[0]) && (held[0] & ~settled[1]) == 0 && (held[0] & ~settled[2]) == 0 -> held[0] = 0
  :: ALL_DELETED(1) && (held[1] & ~settled[3]) == 0 -> held[1] = 0
  :: ALL_DELETED(2) && (held[2] & ~settled[6]) == 0 -> held[2] = 0
  /* The disk of spoke 1. */
  :: !backed_up -> d_step { backed_up = true; backup_held = held[1]; backup_acked = acked[3] }
  :: backed_up && !restored ->
     d_step {
       restored = true;
       stale = true;
       /* What only this disk had. */
       v = 0;
       do
       :: v < written ->
          if
          :: HAS(held[1], v) -> lost = lost | past[v]
          :: else
          fi;
          if
          :: HAS(held[0] | held[2] | backup_held, v) -> gone = gone | past[v]
          :: else
          fi;
          v++
       :: else -> break
       od;
       lost = lost & ~gone & ~acked[3];
       v = 0; gone = 0;
       held[1] = backup_held;
       settled[3] = 0;
       /* The hub says how far it has processed this state: at least what the backup says. It sends its whole list. */
       acked[3] = backup_acked | (backup_held & acked[3]);
       acked[1] = 0;
       settled[1] = 0
     }
  :: stale -> compare(1); stale = false
  :: break
  od;
  /* The links hold: everything is told, to the hub and back. */
  if
  :: stale -> compare(1); stale = false
  :: else
  fi;
  exchange(1, 0); exchange(2, 0); exchange(0, 1); exchange(0, 2);
  repair(1, 0); repair(2, 0); repair(0, 1); repair(0, 2);
  exchange(0, 1); exchange(0, 2); exchange(1, 0); exchange(2, 0); exchange(0, 1); exchange(0, 2);
  repair(1, 0); repair(2, 0); repair(0, 1); repair(0, 2);
  check()
}
