package realsuite_test

import (
	"testing"
	"time"
)

// shortOrphans is how long a shard keeps the documents of a chunk that left, in tests that move chunks
// back.
const shortOrphans = 5 * time.Second

const (
	hashedData = "yorkie-meta" // the newest layout: documents are placed by hash
	rangedData = "yorkie-old"  // that of Yorkie 0.4: by range
)

// The suite without access control. A group shares one cluster, and each test says what it does to it.
func TestWithoutAccessControl(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans, slowMoves: true})
		w.point("conformance", conformance) // first: it changes the balancer of a cluster without data only
		w.load(hashedData, "yorkie-head", f.count(24, 12), 300)
		w.load(rangedData, "yorkie-0.4", 12, 300)
		w.point("locate", locate)
		w.point("live", live)
		w.point("silent", silent)
		w.point("left cursors", leftCursors)
		w.point("faults", faults)
		w.point("arrival", arrival)
	})
}

// Arrival where a range may come back only after the 15 minutes of the server's default.
func TestArrivalWithSlowOrphans(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole {
			t.Skip("only in the whole form")
		}
		w := newWorld(t, g, f, wanted{})
		w.load(hashedData, "yorkie-head", 24, 300)
		w.point("slow arrival", slowArrival)
	})
}

// Heat with Yorkie's own server, which is built from test/yorkie.
func TestHeatOfYorkie(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans})
		w.point("heat", heat)
	})
}

// Incidents that are named, mended and judged, with the balancer on; the simulated cluster has more of them in
// internal/app.
func TestIncidents(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole {
			t.Skip("only in the whole form: each waits for minutes of writes")
		}
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans})
		w.load(hashedData, "yorkie-head", 12, 300)
		w.point("incidents", incidents)
	})
}

// Changes of whole collections, databases and shards; the last removes a shard.
func TestWholeMoves(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole {
			t.Skip("only in the whole form")
		}
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans})
		w.point("whole moves", wholeMoves)
	})
}

// Work of minutes that somebody ends early.
func TestEndedEarly(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole {
			t.Skip("only in the whole form")
		}
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans, slowReshard: true})
		w.point("ended early", endedEarly)
	})
}

// A step-down of a primary that another member replaces.
func TestFaultsWithThreeMembers(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole || g.simulated {
			t.Skip("only in the whole form, and on real servers: a simulated shard has no members")
		}
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans, slowMoves: true, threeFirst: true})
		w.point("three members", faults)
	})
}

// Two replicas of the product with a store on a replica set.
func TestStoreOfReplicas(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		if !f.whole {
			t.Skip("only in the whole form")
		}
		w := newWorld(t, g, f, wanted{orphanDelay: shortOrphans})
		w.point("store", storeOfReplicas)
	})
}

// Changes with access control: as the users of docs/roles.md, and as root.
func TestWithAccessControl(t *testing.T) {
	onEvery(t, func(t *testing.T, g target, f form) {
		w := newWorld(t, g, f, wanted{access: true, orphanDelay: shortOrphans})
		w.load(hashedData, "yorkie-head", 12, 300)
		w.createUsers()
		w.point("as viewer", refusedChanges)
		w.point("as operator", changesAs(func(w *world) string { return w.uriAs(operatorUser) }))
		if f.whole {
			w.point("as root", changesAs((*world).productURI))
		}
		w.point("walk", walk)
	})
}
