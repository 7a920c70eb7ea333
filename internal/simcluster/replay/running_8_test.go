package replay

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
)

// What a real 8.0.10 showed of moves, a moveCollection, a movePrimary, a resharding and the draining of a shard is
// shown here too, but for threads of the server's own and what differs from run to run.
func TestRunningOperationsOf8LookAsOnTheRealServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlayer(t, "8.0/inflight", simcluster.Options{Empty: true, Seed: 2, ServerVersion: "8.0.10",
			Epoch: time.Unix(1795863087, 0), Reshard: 2 * time.Second, OrphanDelay: time.Second})
		defer p.close()
		p.cluster.Start(t.Context())
		p.reconnectAs("recorder")
		ours, theirs := make(map[string]bool), make(map[string]bool)
		list := readObservations(t, p.file)
		for i, s := range list {
			for _, row := range slices.Concat(s.Ops, s.Docs) {
				if l := look(row); l != "" {
					theirs[l] = true
				}
			}
			if s.Did == "" || s.Did == "dataSize" {
				continue
			}
			if s.Did == "split" && list[i-1].Did != "split" {
				p.insertProjects()
			}
			if s.Did == "moveCollection" && !ours["plain"] {
				ours["plain"] = true
				p.mustRun("admin", bson.D{{Key: "enableSharding", Value: "plain"}, {Key: "primaryShard", Value: "shard-rs-3"}})
				p.insertNumbered("plain", "a", 5000, 1039)
			}
			if s.Did == "reshardCollection" {
				p.mustRun("yorkie-meta", bson.D{{Key: "createIndexes", Value: "documents"}, {Key: "indexes", Value: bson.A{
					bson.D{{Key: "key", Value: bson.D{{Key: "project_id", Value: 1}, {Key: "key", Value: 1}}}, {Key: "name", Value: "pk"}}}}})
			}
			done := make(chan bson.Raw, 1)
			go func() { done <- p.run(s.DB, s.Cmd) }()
			balances := s.Did == "balancerStart" || s.Did == "removeShard"
			for begun := time.Now(); len(done) == 0 || balances && time.Since(begun) < 10*time.Second; {
				p.lookAt(ours)
				time.Sleep(5 * time.Millisecond)
			}
			if reply := <-done; !ok(reply) {
				t.Errorf("%s: %s", s.Did, reply)
			}
		}
		for _, l := range slices.Sorted(maps.Keys(theirs)) {
			expect.That(t, ours[l], "not seen here: %s", l)
		}
		expect.That(t, len(theirs) >= 20, "only %d looks compared", len(theirs))
	})
}

// lookAt reads the running operations and their documents.
func (p *player) lookAt(seen map[string]bool) {
	p.t.Helper()
	ops := p.mustRun("admin", bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{bson.D{{Key: "$currentOp",
		Value: bson.D{{Key: "allUsers", Value: true}, {Key: "localOps", Value: false}}}}}}, {Key: "cursor", Value: bson.D{}}})
	docs := p.mustRun("config", bson.D{{Key: "find", Value: "reshardingOperations"}})
	for _, row := range slices.Concat(batch(ops), batch(docs)) {
		if l := look(row); l != "" {
			seen[l] = true
		}
	}
}

// insertProjects inserts four projects of 8,000 documents of a little more than 1 KB each.
func (p *player) insertProjects() {
	p.t.Helper()
	for project := byte(1); project <= 4; project++ {
		docs := bson.A{}
		for i := range 8000 {
			docs = append(docs, padded(bson.D{{Key: "_id", Value: bson.ObjectID{project, 10: byte(i >> 8), 11: byte(i)}},
				{Key: "project_id", Value: bson.ObjectID{0x65, 11: project}}, {Key: "key", Value: fmt.Sprintf("d%d-%d", i%6, i/6)}}, 1072))
		}
		p.mustRun("yorkie-meta", bson.D{{Key: "insert", Value: "documents"}, {Key: "documents", Value: docs}})
	}
}

// workers are threads of the server, which no simulation needs, and moments between states that it does not have.
var workers = regexp.MustCompile(`^(range-deleter|Resharding\w+-\d+|TTLMonitor|conn\d+ \w+ aggregate)|creating-collection|building-index|` +
	`strict-consistency|awaiting-fetch|"?done|preparing-to-donate|initializing|committing|recipientState: unused|donorState: unused`)

// look is what of a row is the same in every run; "" for a row that is not compared.
func look(row bson.Raw) string {
	desc, _ := row.Lookup("desc").StringValueOK()
	text := func(names ...string) string {
		v, err := row.LookupErr(names...)
		if err != nil {
			return ""
		}
		return withoutRandomValues(names[len(names)-1], v)
	}
	var out string
	switch {
	case row.Lookup("tempNs").Type != 0:
		out = fmt.Sprintf("operation %s %s %s %s", text("ns"), text("state"), text("provenance"), sortedNames(row))
	case strings.HasPrefix(desc, "ReshardingMetrics"):
		service, _, _ := strings.Cut(desc, " ")
		names := strings.ReplaceAll(sortedNames(row), "remainingOperationTimeEstimatedSecs ", "")
		out = fmt.Sprintf("%s %s %s donorState: %s recipientState: %s %s %s", service, text("op"), text("originatingCommand"),
			strings.Trim(text("donorState"), `"`), strings.Trim(text("recipientState"), `"`), text("provenance"), names)
	case strings.HasPrefix(desc, "conn"):
		command, _ := row.Lookup("command").DocumentOK()
		if !strings.HasPrefix(firstKey(command), "_shardsvr") {
			return ""
		}
		var fields []string
		elements, _ := command.Elements()
		for _, e := range elements {
			switch e.Key() {
			case "min", "collectionTimestamp", "databaseVersion":
				fields = append(fields, e.Key())
			default:
				fields = append(fields, e.Key()+": "+withoutRandomValues(e.Key(), e.Value()))
			}
		}
		out = fmt.Sprintf("conn %s %s %s", text("appName"), text("ns"), strings.Join(fields, ", "))
	default:
		out = desc + " " + text("op") + " " + text("msg")
	}
	if desc == "" && row.Lookup("tempNs").Type == 0 || workers.MatchString(out) {
		return ""
	}
	return out
}

// sortedNames are the names of the fields of a row, sorted.
func sortedNames(row bson.Raw) string {
	var names []string
	list, _ := row.Elements()
	for _, e := range list {
		names = append(names, e.Key())
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
