package host

import cmap "github.com/orcaman/concurrent-map"

// SmallRegistry makes the actor library's table of names small: it is 1,024 maps,
// each cut into 32 with a lock of its own, which cost five milliseconds and three
// megabytes at every start. One lock for each of the 1,024 is plenty. Call it
// before any actor system is made, and only then: a system must not live through
// a change.
func SmallRegistry() { cmap.SHARD_COUNT = 1 }
