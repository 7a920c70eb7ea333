package web_test

import (
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

func TestShardLabelsAreWhatTellsNamesApart(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"shard-rs-1 shard-rs-2 shard-rs-3", "1 2 3"},
		{"rs0 rs1", "0 1"},
		{"rs10 rs11 rs9", "10 11 9"},
		{"eu us", "eu us"},
		{"only", "1"},
		{"frankfurt virginia", "1 2"},
		{"rs rs1", "1 2"},
		{"shard-<b> shard-x", "1 2"},
	} {
		var shards []topology.Shard
		for name := range strings.SplitSeq(c.names, " ") {
			shards = append(shards, topology.Shard{Name: name})
		}
		if got := strings.Join(answer.ShardLabels(shards), " "); got != c.want {
			t.Errorf("%s → %s, want %s", c.names, got, c.want)
		}
	}
}

func TestShardColourIsItsPlaceAmongTheSortedNames(t *testing.T) {
	s := webtest.NewStory()
	s.Shards = 14
	list := templates.ShardRefs(s.View().Table)
	for i, r := range list {
		if r.Color != i%12+1 {
			t.Errorf("%s has colour %d at place %d", r.Name, r.Color, i)
		}
	}
	if got := templates.RefsOf(s.View().Table).Of("never-heard-of"); got.Color != 0 || got.Label != "?" {
		t.Errorf("an unlisted shard is %+v", got)
	}
}

func TestBalanceIsJudgedByTheFullestShard(t *testing.T) {
	figure := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	none := topology.Figure{Reason: "notLoaded"}
	two := []topology.Shard{{Name: "a"}, {Name: "b"}}
	for _, c := range []struct {
		name          string
		bytes, chunks []topology.Figure
		shards        []topology.Shard
		want, code    string
	}{
		{"even", []topology.Figure{figure(100), figure(110)}, nil, two, "Balanced: the fullest", "even"},
		{"somewhat", []topology.Figure{figure(100), figure(160)}, nil, two, "Somewhat uneven: b", "somewhat"},
		{"uneven", []topology.Figure{figure(900), figure(100)}, nil, two, "Uneven: a has 90", "uneven"},
		{"by chunks while bytes are unknown", []topology.Figure{figure(900), none}, []topology.Figure{figure(5), figure(5)}, two,
			"of the chunks", "even"},
		{"one shard", []topology.Figure{figure(1)}, nil, two[:1], "One shard", "oneShard"},
		{"no data", []topology.Figure{figure(0), figure(0)}, nil, two, "No data yet", "noData"},
		{"no shard", nil, nil, nil, "No shards", "noShards"},
	} {
		got := answer.Load{Shards: c.shards, Bytes: c.bytes, Chunks: c.chunks}.Balance()
		if got.Code != "balance."+c.code || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s: %s %q, want %s … %q", c.name, got.Code, got, c.code, c.want)
		}
	}
}

func TestSumIsAnEstimateWhenPartsAreMissing(t *testing.T) {
	var s answer.Sum
	if f := s.Figure(); f.Known || f.Reason != "notLoaded" {
		t.Errorf("nothing added: %+v", f)
	}
	s.Add(topology.Figure{Known: true, Exact: true, Value: 5})
	if f := s.Figure(); !f.Exact || f.Value != 5 {
		t.Errorf("one exact: %+v", f)
	}
	s.Add(topology.Figure{Reason: "unreachable"})
	if f := s.Figure(); f.Exact || f.Value != 5 {
		t.Errorf("one missing: %+v", f)
	}
}

func TestAttentionNamesWhatIsWrongMostUrgentFirst(t *testing.T) {
	list := attention(webtest.NewStory().With(webtest.Troubled).View())
	var texts []string
	for _, p := range webtest.NewStory().With(webtest.Troubled).View().Problems().Items {
		texts = append(texts, p.Remedy.WhyNot.At(webtest.Epoch))
	}
	seenCalm := false
	for _, a := range list {
		texts = append(texts, a.Title+" "+a.Why)
		urgent := a.Severity == "critical"
		if urgent && seenCalm {
			t.Errorf("%q is urgent but comes late", a.Title)
		}
		seenCalm = seenCalm || !urgent
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{
		"shard-rs-2 is draining, but the balancer, which moves its chunks, is off", "Migrations of yorkie-meta.documents are blocked",
		"flagged jumbo, which the balancer skips: 2",
		"No shard is in the zone mars", "outside their zone", "The balancer is off", "Grant the cluster user clusterMonitor",
		"Changelog: the last read failed", "mongos-1:27017 has not pinged", "snapshot_bodies is documented as sharded",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q in\n%s", want, all)
		}
	}
}

func TestNothingNeedsAttentionInAHealthyCluster(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) { t.Events = nil }).View()
	if list := attention(v); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}

func TestPagerKeepsWithinItsList(t *testing.T) {
	link := func(p int) string { return strconv.Itoa(p) }
	for _, c := range []struct{ n, page, from, to int }{{0, 1, 0, 0}, {1, 0, 0, 1}, {50, 1, 0, 50}, {51, 2, 50, 51}, {51, 99, 50, 51},
		{200, 2, 50, 100}} {
		p := templates.PagerOf(c.n, c.page, link)
		_, from, to := answer.PageOf(c.n, c.page)
		if from != c.from || to != c.to || p.To != c.to || p.From != min(c.from+1, c.n) ||
			(p.Prev == "") != (from == 0) || (p.Next == "") != (to == c.n) {
			t.Errorf("%+v: %d–%d %+v", c, from, to, p)
		}
	}
}

func TestEventsTellFailuresFromRacesThatCostNothing(t *testing.T) {
	details := func(d bson.D) bson.Raw { return webtest.Must(bson.Marshal(d)) }
	v := webtest.NewStory().View()
	for _, c := range []struct {
		what   string
		d      bson.D
		failed bool
		want   string
	}{
		{"moveChunk.error", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}}, true, "Failed to move a chunk"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "aborted"}}, true, "Donor gave up"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "a"}, {Key: "note", Value: "aborted"}}, false, "that it is on"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "success"}}, false, "Donor finished"},
		{"split", bson.D{{Key: "before", Value: bson.D{}}, {Key: "owningShard", Value: "a"}}, false, "Split a chunk in two"},
		{"brand.new.entry", bson.D{}, false, "brand.new.entry"},
	} {
		row := answer.EventOf(v, answer.ReadEvent(topology.Event{What: c.what, Time: webtest.Epoch, Details: details(c.d)}))
		if row.Failed != c.failed || !strings.Contains(row.Text, c.want) || (row.Brief != "") != c.failed {
			t.Errorf("%s %v: %+v", c.what, c.d, row)
		}
	}
}

func TestProjectAnswerSaysWhereInSentences(t *testing.T) {
	v := webtest.NewStory().View()
	p := profile.Yorkie()
	m := answer.Project(v, p, placement.SpreadOf(v.Table, p, v.Dir.All()[3]))
	for _, want := range []string{"documents",
		"Spread by document over shard-rs-1, shard-rs-2 and shard-rs-3: changes, snapshots",
		"Not sharded, on shard-rs-1: snapshot_bodies."} {
		if !strings.Contains(m.Answer, want) {
			t.Errorf("%q lacks %q", m.Answer, want)
		}
	}
	if len(m.Verdicts) < 3 || !m.Verdicts[0].Pin.Can || m.Verdicts[0].Pin.Why == "" {
		t.Errorf("verdicts %+v", m.Verdicts)
	}
}

func TestUnknownSubjectsAreNotFoundAndSayWhatWasSearched(t *testing.T) {
	v, p := webtest.NewStory().View(), profile.Yorkie()
	_, project := answer.FindProject(v, "", bson.NewObjectID())
	_, shard := answer.Shard(v, p, "nope", false)
	_, coll := answer.ShardedCollection(v.Table, "nope.nope")
	_, unsharded := answer.ShardedCollection(v.Table, "yorkie-meta.users")
	for name, err := range map[string]error{"60 projects": project, "shard-rs-3": shard, "nope.nope": coll, "shard-rs-1": unsharded} {
		if fault.Of(err) != fault.NotFound || !strings.Contains(fault.Text(err), name) {
			t.Errorf("%v does not mention %s", err, name)
		}
	}
	empty := answer.View{Table: &topology.Table{}, Dir: placement.NewDirectory(0, nil, nil, topology.Health{})}
	if _, err := answer.FindProject(empty, "", bson.NewObjectID()); fault.Of(err) != fault.Unavailable {
		t.Errorf("before the first read: %v", err)
	}
}
