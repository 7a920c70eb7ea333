package problems_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestAShardShowsHowFullItsDiskIsAndWhyThatIsNotKnown(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Disks = map[string]topology.Disk{"shard-rs-1": webtest.DiskOf(63, 252, webtest.Epoch),
			"shard-rs-2": webtest.DiskOf(240, 252, webtest.Epoch)}
	}).View()
	rows := answer.Shards(v)
	if d := rows[0].Disk; d.Used.Value == nil || *d.Used.Value != 63<<30 || *d.Total.Value != 252<<30 || !d.Total.At.Equal(webtest.Epoch) {
		t.Errorf("%+v", d)
	}
	if d := rows[2].Disk; d.Used.Value != nil || d.Used.Reason != "noDisk" {
		t.Errorf("%+v", d)
	}
	if d := templates.DiskCell(rows[0].Disk); d.Share != 0.25 || d.Bar != 0.25 || !strings.Contains(d.Text, "252") ||
		!strings.Contains(d.Title, "63") ||
		!strings.Contains(d.Title, "189") {
		t.Errorf("%+v", d)
	}
	if d := templates.DiskCell(rows[2].Disk); d.Known || d.Share >= 0 || d.Text != "not reported" || d.Title == "" {
		t.Errorf("%+v", d)
	}
	for i, warns := range []bool{false, true, false} {
		if f := templates.DiskFact(answer.Shards(v)[i].Disk); f.Warn != warns || f.Text == "" {
			t.Errorf("%d: %+v", i, f)
		}
	}
	var said []string
	for _, a := range attention(v) {
		if strings.HasPrefix(a.ID, "add-shards.") {
			said = append(said, a.Title)
			expect.That(t, a.Severity == "critical" && string(a.URL) == "/advice#"+a.ID, "%+v", a)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "shard-rs-2") || !strings.Contains(said[0], "95") {
		t.Errorf("%q", said)
	}
}

func TestTheOverviewTellsWhyDisksAreNotReadAnyMore(t *testing.T) {
	hourAgo := webtest.Epoch.Add(-time.Hour)
	for says, change := range map[string]func(*topology.Table){
		"dbStats on yorkie-meta": func(t *topology.Table) {
			t.Disks = nil
			t.Health[topology.PartDisks] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "dbStats on yorkie-meta"}
		},
		"shard-rs-3 does not answer.": func(t *topology.Table) {
			t.Disks = map[string]topology.Disk{"shard-rs-1": webtest.DiskOf(63, 252, hourAgo)}
			t.Health[topology.PartDisks] = topology.Health{At: hourAgo, Err: fault.New(fault.Unavailable, "shard-rs-3 does not answer.")}
		},
	} {
		v := webtest.NewStory().With(change).View()
		f := templates.DiskFact(answer.Shards(v)[0].Disk)
		if denied := v.Table.Disks == nil; f.Known == denied || denied && (f.Text != "not permitted" || !strings.Contains(f.Title, says)) {
			t.Errorf("%s: %+v", says, f)
		}
		if !slices.ContainsFunc(attention(v), func(a api.ProblemLine) bool { return strings.Contains(a.Title+a.Why, says) }) {
			t.Errorf("the overview does not tell %q", says)
		}
	}
}
