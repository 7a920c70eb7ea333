package replay

import (
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
)

// withoutNames is an error text with the names removed.
func withoutNames(text string) string {
	text = regexp.MustCompile(`ObjectId\('[0-9a-f]+'\)|UUID\("[0-9a-f-]+"\)|MinKey|MaxKey`).ReplaceAllString(text, "x")
	text = regexp.MustCompile(`shard-rs-\d|yorkie-meta\.\w+|config\.system\.sessions`).ReplaceAllString(text, "y")
	return regexp.MustCompile(`\{ (\w+: (x|\{ id: x \})(, )?)+ \}`).ReplaceAllString(text, "{…}")
}

// fieldNames lists the fields of a log entry's details, in order.
func fieldNames(details bson.Raw) string {
	var out []string
	list, _ := details.Elements()
	for _, e := range list {
		out = append(out, e.Key())
	}
	return strings.Join(out, " ")
}

// A client that changes zones, splits and moves while the balancer spreads the sessions
// of a new cluster gets the same errors, round times and log entries as on the recorded
// cluster. Which commands conflict depends on milliseconds, so the test starts at
// several times.
func TestClientBesideABusyBalancerGetsTheRecordedErrors(t *testing.T) {
	missed := &encountered{texts: make(map[string]bool), entries: make(map[string]bool)}
	for _, s := range readObservations(t, "busy") {
		if text, ok := s.Reply.Lookup("errmsg").StringValueOK(); ok {
			missed.texts[withoutNames(text)] = true
		}
		if s.Log != "" {
			missed.entries[s.What+" "+fieldNames(s.Details)] = true
		}
	}
	recorded := maps.Clone(missed.texts)
	for offset := 100 * time.Millisecond; offset < 1400*time.Millisecond; offset += 200 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			p := newPlayer(t, "busy", simcluster.Options{Empty: true, Sessions: true, Seed: 3, Epoch: time.Unix(1795341128, 0)})
			defer p.close()
			p.spreadCollections()
			time.Sleep(2*time.Minute + offset)
			here := &encountered{texts: make(map[string]bool), entries: make(map[string]bool)}
			p.replayBesideBalancer(here)
			for text := range here.texts {
				delete(missed.texts, text)
				// These errors are in other recordings: a receiving shard, and one that waits for
				// orphans.
				other := strings.NewReplacer("receiving", "donating", " from y", " to y").Replace(text)
				if !recorded[text] && !recorded[other] &&
					!strings.HasPrefix(text, "Data transfer error: ExceededTimeLimit: Failed to delete orphaned y range [{…}, {…})") {
					t.Errorf("this error did not occur on the real server: %s", text)
				}
			}
			for entry := range here.entries {
				delete(missed.entries, entry)
			}
		})
	}
	for text := range missed.texts {
		t.Errorf("the recorded error never occurred: %s", text)
	}
	for entry := range missed.entries {
		t.Errorf("no entry like %s", entry)
	}
}

// encountered collects the error texts and the kinds of log entries that a client got.
type encountered struct{ texts, entries map[string]bool }

// spreadCollections makes the recorded collections and then turns the balancer on.
func (p *player) spreadCollections() {
	p.t.Helper()
	p.cluster.Start(p.t.Context())
	p.mustRun("admin", bson.D{{Key: "balancerStop", Value: 1}})
	p.mustRun("admin", bson.D{{Key: "enableSharding", Value: "yorkie-meta"}, {Key: "primaryShard", Value: "shard-rs-1"}})
	for _, coll := range []string{"documents", "clients"} {
		ns, key := "yorkie-meta."+coll, bson.D{{Key: "project_id", Value: 1}}
		if coll == "clients" {
			key = append(key, bson.E{Key: "_id", Value: 1})
		}
		p.mustRun("admin", bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key}})
		for n := byte(0xbd); n <= 0xc3; n++ {
			middle := bson.D{{Key: "project_id", Value: project(n)}}
			if coll == "clients" {
				middle = append(middle, bson.E{Key: "_id", Value: bson.MinKey{}})
			}
			p.mustRun("admin", bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: middle}})
			p.mustRun("admin", bson.D{
				{Key: "moveChunk", Value: ns}, {Key: "find", Value: bson.D{{Key: "project_id", Value: project(n)}, {Key: "_id", Value: 0}}},
				{Key: "to", Value: []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}[n%3]}, {Key: "_waitForDelete", Value: true},
			})
		}
	}
	p.mustRun("admin", bson.D{{Key: "balancerStart", Value: 1}})
}

// replayBesideBalancer repeats the recorded client's commands at the recorded times.
func (p *player) replayBesideBalancer(m *encountered) {
	p.t.Helper()
	list, begun, since := readObservations(p.t, "busy"), time.Now(), p.now()
	to := "" // shard of the zone
	for i, s := range list {
		if s.Did == "" || s.Did == "move" {
			continue
		}
		if s.Did == "zone shard" {
			to = s.Cmd.Lookup("addShardToZone").StringValue()
		}
		time.Sleep(time.Until(begun.Add(time.Duration(s.T) * time.Millisecond)))
		if text, ok := p.run("admin", completeSplitKey(s.Cmd)).Lookup("errmsg").StringValueOK(); ok {
			m.texts[withoutNames(text)] = true
		}
		if s.Did == "split" && list[i+1].Did != "split" {
			p.moveUntilAccepted(s, to, m)
		}
	}
	p.recordLog(since, m)
}

// completeSplitKey adds the last field to a split key of clients, which the recording
// omits but the replies show.
func completeSplitKey(cmd bson.Raw) bson.D {
	var d bson.D
	if err := bson.Unmarshal(cmd, &d); err != nil {
		panic(err) // cannot fail: it was just decoded
	}
	if d[0].Key == "split" && d[0].Value == "yorkie-meta.clients" {
		d[1].Value = append(d[1].Value.(bson.D), bson.E{Key: "_id", Value: bson.MinKey{}})
	}
	return d
}

// project is an id of the recording.
func project(n byte) bson.ObjectID {
	return bson.ObjectID{0x6b, 0x02, 0xbb, 0x5f, 0xce, 0x7d, 0xd0, 0x42, 0xf4, 0x80, 0x36, n}
}

// now is the cluster's time.
func (p *player) now() time.Time { return p.cluster.Catalog().Now() }

// moveUntilAccepted moves the chunk below the split point and retries every 0.4 s while
// a shard is busy, as the recorded client did.
func (p *player) moveUntilAccepted(s observation, to string, m *encountered) {
	p.t.Helper()
	ns := s.Cmd.Lookup("split").StringValue()
	upper := s.Cmd.Lookup("middle", "project_id").ObjectID()
	lower := upper
	lower[11]--
	bounds := bson.A{bson.D{{Key: "project_id", Value: lower}}, bson.D{{Key: "project_id", Value: upper}}}
	if strings.HasSuffix(ns, ".clients") {
		for i, b := range bounds {
			bounds[i] = append(b.(bson.D), bson.E{Key: "_id", Value: bson.MinKey{}})
		}
	}
	for range 50 {
		reply := p.run("admin", bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bounds},
			{Key: "to", Value: to}, {Key: "_waitForDelete", Value: true}})
		if ok(reply) {
			return
		}
		text, _ := reply.Lookup("errmsg").StringValueOK()
		m.texts[withoutNames(text)] = true
		time.Sleep(400 * time.Millisecond)
	}
	p.t.Errorf("%s %v never arrived on %s", ns, bounds, to)
}

// recordLog records the kinds of log entries and compares the times of rounds.
func (p *player) recordLog(since time.Time, m *encountered) {
	p.t.Helper()
	var ends []time.Time
	for _, log := range []string{"changelog", "actionlog"} {
		reply := p.mustRun("config", bson.D{{Key: "find", Value: log}, {Key: "batchSize", Value: 100_000}})
		values, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
		for _, v := range values {
			row := v.Document()
			if row.Lookup("time").Time().Before(since) {
				continue
			}
			what := row.Lookup("what").StringValue()
			m.entries[what+" "+fieldNames(row.Lookup("details").Document())] = true
			if what != "balancer.round" {
				continue
			}
			end, took := row.Lookup("time").Time(), time.Duration(row.Lookup("details", "executionTimeMillis").Int32())*time.Millisecond
			moved, _ := row.Lookup("details", "chunksMoved").Int32OK()
			// Recorded: 344 to 639 ms. With orphans in the range 10.3 to 10.5 s.
			if took < 200*time.Millisecond || took > 650*time.Millisecond && (moved > 0 || took < 10*time.Second || took > 10500*time.Millisecond) {
				p.t.Errorf("a round of %s that moved %d", took, moved)
			}
			if n := len(ends); n > 0 {
				// Recorded: 1,003 to 1,008 ms, or ten seconds after a round without moves.
				if pause := end.Add(-took).Sub(ends[n-1]); pause < time.Second || pause > 1010*time.Millisecond && pause < 10*time.Second {
					p.t.Errorf("a pause of %s between rounds", pause)
				}
			}
			ends = append(ends, end)
		}
	}
	expect.That(p.t, len(ends) >= 2, "%d rounds, want at least 2", len(ends))
}
