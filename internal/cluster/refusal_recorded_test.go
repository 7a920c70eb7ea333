package cluster

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// testdata/refusals.jsonl.gz has the distinct error replies that a real 5.0.7 and a real 8.0.10 gave to the commands
// that we send, each with what it means for the cluster, judged by what the cluster had afterwards. A row that none of
// them matches says where it is known from.
func TestRecordedRefusalsAreUnderstood(t *testing.T) {
	file := must.Get(os.Open("testdata/refusals.jsonl.gz"))
	defer file.Close()
	plain, err := gzip.NewReader(file)
	must.Do(t, err)
	releases, recorded := map[string]int{}, map[*refusal]bool{}
	for lines := bufio.NewScanner(plain); lines.Scan(); {
		var r struct {
			Release, Command, Name, Text, Kind, Busy string
			Code                                     int
		}
		must.Do(t, json.Unmarshal(lines.Bytes(), &r))
		releases[r.Release]++
		a := answer{r.Code, r.Name, r.Text}
		expect.Equal(t, a.kind().String(), r.Kind, "%s: %s was answered %d %q", r.Release, r.Command, r.Code, r.Text)
		busy := operation.Obstacle("")
		if row := a.row(); row != nil {
			busy, recorded[row] = row.busy, true
		}
		expect.Equal(t, string(busy), r.Busy,
			"%s: %s was answered %d %q: obstacle %q", r.Release, r.Command, r.Code, r.Text, busy)
	}
	for i := range refusals {
		if r := &refusals[i]; recorded[r] != (r.from == "") {
			t.Errorf("the row of %v %q is recorded: %t, and known from %q", r.codes, r.text, recorded[r], r.from)
		}
	}
	if releases["5.0.7"] < 30 || releases["8.0.10"] < 40 {
		t.Fatalf("recorded refusals by release: %v", releases)
	}
}

func TestAMoveInTheWayIsNamedInTheWordsOfEachRelease(t *testing.T) {
	for _, text := range []string{
		"Unable to start new balancer operation because this shard is currently donating chunk [{ p: 1 }, { p: 2 }) for namespace a.b to s-2",
		"Command request failed on source shard. :: caused by :: Unable to start new balancer operation because this shard is " +
			"currently donating range 'min: { p: 1 } - max: { p: 2 }' for namespace a.b to shard s-2",
	} {
		err, ok := busyError(operation.ObstacleMigration, text, fault.New(fault.Conflict, "refused")).(*operation.BusyError)
		if !ok || err.NS != "a.b" || err.Shard != "s-2" {
			t.Errorf("%q: got %+v", text, err)
		}
	}
}
