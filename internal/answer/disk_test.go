package answer_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func withDisks(disks map[string]topology.Disk) func(*topology.Table) {
	return func(t *topology.Table) { t.Disks = disks }
}

func TestAShardShowsHowFullItsDiskIsAndWhyThatIsNotKnown(t *testing.T) {
	v := webtest.NewStory().With(withDisks(map[string]topology.Disk{
		"shard-rs-1": webtest.DiskOf(63, 252, webtest.Epoch), "shard-rs-2": webtest.DiskOf(240, 252, webtest.Epoch),
	})).View()
	rows := answer.Shards(v)
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
			if a.Severity != "critical" || a.URL != "/advice#"+a.ID {
				t.Errorf("%+v", a)
			}
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "shard-rs-2") || !strings.Contains(said[0], "95") {
		t.Errorf("%q", said)
	}
}

func TestADiskThatMayNotBeReadNamesWhatToGrant(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Disks = nil
		t.Health[topology.PartDisks] = topology.Health{Err: errors.New("code 13"), Denied: true, Privilege: "dbStats on yorkie-meta"}
	}).View()
	if f := templates.DiskFact(answer.Shards(v)[0].Disk); f.Known || f.Text != "not permitted" ||
		!strings.Contains(f.Title, "dbStats on yorkie-meta") {
		t.Errorf("%+v", f)
	}
	found := false
	for _, a := range attention(v) {
		found = found || strings.Contains(a.Title+a.Why, "dbStats on yorkie-meta")
	}
	if !found {
		t.Error("the overview does not tell")
	}
}

func TestDisksThatCannotBeReadAnyMoreAreToldAsStale(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		t.Disks = map[string]topology.Disk{"shard-rs-1": webtest.DiskOf(63, 252, webtest.Epoch.Add(-time.Hour))}
		t.Health[topology.PartDisks] = topology.Health{
			At:  webtest.Epoch.Add(-time.Hour),
			Err: fault.New(fault.Unavailable, "shard-rs-3 does not answer."),
		}
	}).View()
	if f := templates.DiskFact(answer.Shards(v)[0].Disk); !f.Known {
		t.Errorf("the last good figure is gone: %+v", f)
	}
	found := false
	for _, a := range attention(v) {
		found = found || strings.Contains(a.Title+a.Why, "shard-rs-3 does not answer.")
	}
	if !found {
		t.Error("the overview does not tell")
	}
}

func TestTheAPIGivesEachShardsDisk(t *testing.T) {
	v := webtest.NewStory().With(withDisks(map[string]topology.Disk{"shard-rs-1": webtest.DiskOf(63, 252, webtest.Epoch)})).View()
	out := answer.Shards(v)
	if d := out[0].Disk; d.Used.Value == nil || *d.Used.Value != 63<<30 || *d.Total.Value != 252<<30 || !d.Total.At.Equal(webtest.Epoch) {
		t.Errorf("%+v", d)
	}
	if d := out[1].Disk; d.Used.Value != nil || d.Used.Reason != "noDisk" {
		t.Errorf("%+v", d)
	}
}
