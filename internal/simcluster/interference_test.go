package simcluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
)

// onZonedCollection runs a test on a still cluster of a release with app.c on {p: 1},
// split at 0, 100 … 500; [100, 200) is in zone red of shard-rs-2, and on that shard.
func onZonedCollection(t *testing.T, release string, seed int64, test func(t *testing.T, c *Cluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{ServerVersion: release, Empty: true, Still: true, Seed: seed,
			Epoch: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)})
		must.Do(t, err)
		defer func() { _ = c.Close() }()
		c.Start(t.Context())
		mustRun(t, c, "admin", d("enableSharding", "app", "primaryShard", "shard-rs-1"))
		mustRun(t, c, "admin", d("shardCollection", "app.c", "key", d("p", int32(1))))
		docs := bson.A{}
		for i := range int32(6) {
			mustRun(t, c, "admin", d("split", "app.c", "middle", d("p", 100*i)))
			docs = append(docs, d("_id", i, "p", 100*i))
		}
		mustRun(t, c, "app", d("insert", "c", "documents", docs))
		mustRun(t, c, "admin", d("addShardToZone", "shard-rs-2", "zone", "red"))
		mustRun(t, c, "admin", d("updateZoneKeyRange", "app.c", "min", d("p", int32(100)), "max", d("p", int32(200)), "zone", "red"))
		mustRun(t, c, "admin", d("moveChunk", "app.c", "find", d("p", int32(100)), "to", "shard-rs-2", "_waitForDelete", true))
		test(t, c)
	})
}

// logLines lists the entries of a log collection, one line each.
func logLines(c *Cluster, log string, whats ...string) (out []string) {
	c.catalog.Mu.RLock()
	defer c.catalog.Mu.RUnlock()
	coll := c.catalog.Config.Coll("config", log)
	if coll == nil {
		return nil
	}
	for _, row := range coll.All() {
		if what := row.Lookup("what").StringValue(); slices.Contains(whats, what) {
			detail := row.Lookup("details").Document()
			out = append(out, fmt.Sprint(row.Lookup("time").Time().UTC().Format("15:04:05.000"), " ", what, " ",
				detail.Lookup("min"), " ", detail.Lookup("to")))
		}
	}
	return out
}

// wantEveryDocumentOnce fails the test unless every document exists once, on the shard
// that owns it.
func wantEveryDocumentOnce(t *testing.T, c *Cluster) {
	t.Helper()
	reply := mustRun(t, c, "app", d("aggregate", "c", "pipeline", bson.A{d("$count", "n")}, "cursor", bson.D{}))
	expect.Equal(t, reply.Lookup("cursor", "firstBatch", "0", "n").AsInt64(), 6, "documents")
}

func TestBusyBalancerMovesEverySecondWithinZones(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			onZonedCollection(t, release, 7, func(t *testing.T, c *Cluster) {
				i, err := c.Interfere(Interference{Kind: BusyBalancer, Namespaces: []string{"app.c"}})
				must.Do(t, err)
				time.Sleep(time.Minute)
				i.Stop()
				rounds, commits := logLines(c, "actionlog", "balancer.round"), logLines(c, "changelog", "moveChunk.commit")
				expect.That(t, len(rounds) >= 38 && len(rounds) <= 44, "%d rounds in a minute, want 38 to 44", len(rounds))
				if i.Acts() < 15 || len(commits) < len(rounds) {
					t.Errorf("%d chunks moved, %d moves in %d rounds", i.Acts(), len(commits), len(rounds))
				}
				for _, m := range commits[1:] {
					expect.Lacks(t, m, `{"p": {"$numberInt":"100"}}`, "out of its zone")
				}
				if late := logLines(c, "changelog", "moveChunk.error"); len(late) > 0 {
					t.Errorf("failed: %s, want len 0", late)
				}
				wantEveryDocumentOnce(t, c)
				time.Sleep(30 * time.Second) // the policy evens out the rest
				acts, moved := i.Acts(), len(logLines(c, "changelog", "moveChunk.commit"))
				time.Sleep(time.Minute)
				if i.Acts() != acts || len(logLines(c, "changelog", "moveChunk.commit")) != moved {
					t.Error("interference continues after its end")
				}
			})
		})
	}
}

func TestBusyBalancerConflictsWithManualMoves(t *testing.T) {
	onZonedCollection(t, "5.0", 7, func(t *testing.T, c *Cluster) {
		mustRun(t, c, "admin", d("shardCollection", "app.other", "key", d("p", int32(1))))
		i, err := c.Interfere(Interference{Kind: BusyBalancer, Namespaces: []string{"app.c"}})
		must.Do(t, err)
		refused := map[string]int{}
		for n := range 200 {
			time.Sleep(333 * time.Millisecond)
			to := []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}[n%3]
			_, err := c.Command(t.Context(), "admin", d("moveChunk", "app.other", "find", d("p", int32(0)), "to", to, "_waitForDelete", true))
			if e := status.Of(err); e != nil {
				must.That(t, e.Code == status.ConflictingOperationInProgress, "refused by %v", err)
				text, _, _ := strings.Cut(e.Message, " chunk [{ p: ")
				refused[text]++
			}
		}
		const busy = "Unable to start new balancer operation because this shard is currently "
		if refused[busy+"donating"] == 0 || refused[busy+"receiving"] == 0 || len(refused) != 2 {
			t.Errorf(`refused %v, want [busy+"donating"] more than 0, [busy+"receiving"] more than 0, len 2`, refused)
		}
		// And the other way round: the balancer's moves fail because of manual ones.
		if n := len(logLines(c, "changelog", "moveChunk.error")); n == 0 || i.Acts() == 0 {
			t.Errorf("%d moves failed, %d chunks moved, want n more than 0, i.Acts() more than 0", n, i.Acts())
		}
		wantEveryDocumentOnce(t, c)
	})
}

func TestBalancerReturnsChunksThatSomebodyMovesOutOfTheirZone(t *testing.T) {
	for _, release := range []string{"4.4", "5.0", "6.0", "8.0"} {
		t.Run(release, func(t *testing.T) {
			onZonedCollection(t, release, 7, func(t *testing.T, c *Cluster) {
				i, err := c.Interfere(Interference{Kind: MovesOutOfZones, Every: 5 * time.Second})
				must.Do(t, err)
				time.Sleep(5 * time.Minute)
				i.Stop()
				time.Sleep(time.Minute)
				out, back := 0, 0
				for _, m := range logLines(c, "changelog", "moveChunk.commit")[1:] {
					if strings.Contains(m, `{"p": {"$numberInt":"100"}}`) {
						if strings.Contains(m, "shard-rs-2") {
							back++
						} else {
							out++
						}
					}
				}
				if out < 10 || out != back || i.Acts() != out {
					t.Errorf("%d times out, %d back, %d acts", out, back, i.Acts())
				}
				tags := mustRun(t, c, "config", d("find", "tags")).Lookup("cursor", "firstBatch")
				if rows, _ := tags.Array().Values(); len(rows) != 1 || rows[0].Document().Lookup("tag").StringValue() != "red" {
					t.Errorf("ranges %s", tags)
				}
				wantEveryDocumentOnce(t, c)
			})
		})
	}
}

func TestSameSeedGivesTheSameInterference(t *testing.T) {
	for _, kind := range []InterferenceKind{BusyBalancer, MovesOutOfZones} {
		t.Run(string(kind), func(t *testing.T) {
			run := func(seed int64) (log []string) {
				onZonedCollection(t, "5.0", 7, func(t *testing.T, c *Cluster) {
					must.Do(t, must.Err(c.Interfere(Interference{Kind: kind, Seed: seed})))
					time.Sleep(2 * time.Minute)
					log = logLines(c, "changelog", "moveChunk.start", "moveChunk.commit", "moveChunk.error")
				})
				return log
			}
			one, again, other := run(1), run(1), run(2)
			if !slices.Equal(one, again) {
				t.Errorf("twice seed 1:\n%s\n\n%s", strings.Join(one, "\n"), strings.Join(again, "\n"))
			}
			expect.That(t, !slices.Equal(one, other) && len(one) >= 20, "seeds 1 and 2 do the same, %d entries", len(one))
		})
	}
}

func TestInvalidInterferenceOptionsAreRefused(t *testing.T) {
	c := emptyCluster(t)
	for _, i := range []Interference{{}, {Kind: "weather"}, {Kind: BusyBalancer, Every: -1}} {
		expect.That(t, must.Err(c.Interfere(i)) != nil, "the invalid options %+v were accepted", i)
	}
}
