package metrics

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestFiguresOfEachCollectionAndShardAreThoseOfTheTable(t *testing.T) {
	tab := table("a", "b")
	c := collection("db.x", 20, "a", "b")
	tab.Collections = []*topology.Collection{c}
	tab.Unsharded = []topology.Namespace{"db.u"}
	tab.Databases = []topology.Database{{Name: "db", Primary: "b"}}
	tab.Shards[0].Zones = []string{"eu"}
	tab.Zones = []topology.ZoneRange{{NS: "db.x", Zone: "eu", Min: c.Chunks.At(0).Min, Max: c.Chunks.At(4).Min}}
	sized(tab, "db.x", 3000, 1000)
	sized(tab, "db.u", 0, 500)
	got := scrape(t, NewCluster(sources(tab)))
	for name, want := range map[string]float64{
		`shardboard_collection_data_bytes{` + id + `,collection="db.x",shard="a"}`:      3000,
		`shardboard_collection_data_bytes{` + id + `,collection="db.u",shard="b"}`:      500,
		`shardboard_collection_documents{` + id + `,collection="db.x",shard="b"}`:       100,
		`shardboard_collection_storage_bytes{` + id + `,collection="db.x",shard="a"}`:   1500,
		`shardboard_collection_index_bytes{` + id + `,collection="db.x",shard="a"}`:     750,
		`shardboard_collection_chunks{` + id + `,collection="db.x",shard="a"}`:          10,
		`shardboard_collection_jumbo_chunks{` + id + `,collection="db.x",shard="b"}`:    2,
		`shardboard_collection_jumbo_chunks{` + id + `,collection="db.x",shard="a"}`:    0,
		`shardboard_collection_zone_violations{` + id + `,collection="db.x",shard="b"}`: 2,
		`shardboard_collection_zone_violations{` + id + `,collection="db.x",shard="a"}`: 0,
		`shardboard_collection_imbalance_ratio{` + id + `,collection="db.x"}`:           0.5,
		`shardboard_shard_data_bytes{` + id + `,shard="b"}`:                             1500,
		`shardboard_imbalance_ratio{` + id + `}`:                                        float64(3000)/2250 - 1,
		`shardboard_chunks{` + id + `}`:                                                 20,
		`shardboard_cluster_up{` + id + `}`:                                             1,
		`shardboard_balancer_enabled{` + id + `}`:                                       1,
		`shardboard_poll_age_seconds{` + id + `,part="routing"}`:                        5,
		`shardboard_metrics_dropped_series{` + id + `}`:                                 0,
	} {
		if is, ok := got[name]; !ok || math.Abs(is-want) > 1e-9 {
			t.Errorf("%s: found %v (%t), expected %v", name, is, ok, want)
		}
	}
	if _, ok := got[`shardboard_collection_chunks{`+id+`,collection="db.u",shard="b"}`]; ok {
		t.Error("a collection that is not sharded has chunks")
	}
}

func TestWhatIsNotKnownIsAbsent(t *testing.T) {
	names := func(tab *topology.Table) string {
		return strings.Join(slices.Sorted(maps.Keys(scrape(t, NewCluster(sources(tab))))), "\n")
	}
	before := &topology.Table{Health: map[topology.Part]topology.Health{}}
	if got := names(before); got != "shardboard_metrics_dropped_series{cluster=\"\"}" {
		t.Errorf("before the first read there is\n%s", got)
	}
	before.Health[topology.PartRouting] = topology.Health{Err: errors.New("no answer")}
	if got := scrape(t, NewCluster(sources(before))); got[`shardboard_cluster_up{cluster=""}`] != 0 ||
		got[`shardboard_poll_failing{cluster="",part="routing"}`] != 1 || strings.Contains(names(before), "poll_age") {
		t.Errorf("a cluster that never answered: %v", got)
	}
	tab := table("a", "b")
	tab.Collections = []*topology.Collection{collection("db.x", 4, "a", "b")}
	tab.Balancer = topology.Balancer{}
	tab.Health[topology.PartSizes] = topology.Health{Err: errors.New("no"), Denied: true}
	got := names(tab)
	for _, absent := range []string{"data_bytes", "_documents", "imbalance", "shardboard_balancer", "shard_disk", "estimated",
		"moves_total", "runs", "problems", "projects",
		"commands", `poll_age_seconds{` + id + `,part="sizes"}`} {
		expect.That(t, !strings.Contains(got, absent), "%s is not known, and there:\n%s", absent, got)
	}
	for _, there := range []string{`collection_chunks{` + id + `,collection="db.x",shard="a"}`,
		`poll_denied{` + id + `,part="sizes"}`, "collections_unmeasured"} {
		expect.Contains(t, got, there, "the metrics")
	}
}

func TestACollectionWithoutAFigureOnOneShardHasNoImbalance(t *testing.T) {
	tab := table("a", "b")
	tab.Collections = []*topology.Collection{collection("db.x", 4, "a", "b")}
	sized(tab, "db.x", 100, 100)
	tab.Sizes["db.x"].Shards["b"] = topology.Size{Bytes: topology.Figure{Reason: "unreachable"}}
	for name := range scrape(t, NewCluster(sources(tab))) {
		if strings.Contains(name, "imbalance") || strings.Contains(name, `data_bytes`) && strings.Contains(name, `shard="b"`) {
			t.Errorf("%s is not known", name)
		}
	}
}

func TestSeriesAreBoundedAndSumsComplete(t *testing.T) {
	var shards []string
	for i := range 100 {
		shards = append(shards, fmt.Sprintf("shard-%d", i))
	}
	tab := table(shards...)
	one := collection("db.x", 200, shards...)
	bytes := make([]int64, len(shards))
	for i := range 1000 {
		ns := topology.Namespace(fmt.Sprintf("db.c%03d", i))
		c := *one
		c.NS = ns
		tab.Collections = append(tab.Collections, &c)
		for s := range bytes {
			bytes[s] = int64(i + s)
		}
		sized(tab, ns, bytes...)
	}
	moves := NewMoves(nil)
	moves.read(tab)
	from := sources(tab)
	from.Moves = moves
	got := scrape(t, NewCluster(from))
	if len(got) > MaxSeries || got[`shardboard_metrics_dropped_series{`+id+`}`] != 0 {
		t.Errorf("%d series, %v dropped", len(got), got[`shardboard_metrics_dropped_series{`+id+`}`])
	}
	own, sum, all := map[string]bool{}, 0.0, 0.0
	for name, value := range got {
		switch {
		case strings.HasPrefix(name, "shardboard_collection_data_bytes"):
			_, rest, _ := strings.Cut(name, `collection="`)
			ns, _, _ := strings.Cut(rest, `"`)
			own[ns], sum = true, sum+value
		case strings.HasPrefix(name, "shardboard_shard_data_bytes"):
			all += value
		}
	}
	expect.That(t, sum == all && all != 0, "collections have %v bytes together, shards %v", sum, all)
	expect.That(t, len(own) == 11 && own["db.c999"] && own["other"] && !own["db.c000"], "these have series: %v", own)
	expect.Equal(t, got[`shardboard_metrics_other_collections{`+id+`}`], 990, "others")
	if got[`shardboard_collection_jumbo_chunks{`+id+`,collection="other",shard="shard-9"}`] != 1980 {
		t.Error("jumbo chunks of other collections are not summed")
	}
}

// The active window counts by its length, across midnight too; windows by day by their mean over a week.
func TestTheBalancersSwitchAndWindowAreTold(t *testing.T) {
	for _, c := range []struct {
		b    topology.Balancer
		want [2]float64
	}{
		{topology.Balancer{Mode: "full"}, [2]float64{1, 86400}},
		{topology.Balancer{Mode: "off"}, [2]float64{0, 86400}},
		{topology.Balancer{Mode: "autoSplitOnly"}, [2]float64{0, 86400}},
		{topology.Balancer{Mode: "full", WindowStart: "01:00", WindowStop: "05:30"}, [2]float64{1, 4.5 * 3600}},
		{topology.Balancer{Mode: "full", WindowStart: "23:00", WindowStop: "1:5"}, [2]float64{1, 2*3600 + 5*60}},
		{topology.Balancer{Mode: "full", Refused: []topology.RefusedSetting{{Doc: "balancer", Field: "activeWindow"}}}, [2]float64{0, 86400}},
		{topology.Balancer{Mode: "full", WindowStart: "00:00", WindowStop: "23:59", Days: []topology.DayWindow{
			{Day: time.Monday, Start: "1:00", Stop: "4:00"}, {Day: time.Monday, Start: "3:00", Stop: "8:00"}}}, [2]float64{1, 3600}},
	} {
		b, want := c.b, c.want
		tab := table("a")
		b.Known, b.StatusKnown = true, true
		tab.Balancer = b
		got := scrape(t, NewCluster(sources(tab)))
		if enabled, window := got[`shardboard_balancer_enabled{`+id+`}`], got[`shardboard_balancer_window_seconds{`+id+`}`]; enabled != want[0] ||
			window != want[1] {
			t.Errorf("%+v: enabled %v, %v s, expected %v", b, enabled, window, want)
		}
	}
}

// Figures stay when a shard cannot be read, so their age has to grow.
func TestFiguresOfAShardHaveTheAgeOfTheOldest(t *testing.T) {
	tab := table("a", "b")
	tab.Collections = []*topology.Collection{collection("db.x", 4, "a", "b")}
	sized(tab, "db.x", 100, 100)
	old := tab.Sizes["db.x"].Shards["b"]
	old.Bytes.At = epoch.Add(-time.Hour)
	tab.Sizes["db.x"].Shards["b"] = old
	got := scrape(t, NewCluster(sources(tab)))
	if got[`shardboard_shard_data_age_seconds{`+id+`,shard="a"}`] != 5 || got[`shardboard_shard_data_age_seconds{`+id+`,shard="b"}`] != 3605 {
		t.Errorf("found %v", got)
	}
}

func TestAClusterThatCannotBeUsedIsDown(t *testing.T) {
	a := sources(table("s"))
	a.Name = "eu"
	got := scrape(t, NewCluster(a), NewUnusable("us"))
	if is, ok := got[`shardboard_cluster_up{cluster="us"}`]; !ok || is != 0 || got[`shardboard_cluster_up{cluster="eu"}`] != 1 ||
		got[`shardboard_shards{cluster="eu"}`] != 1 {
		t.Errorf("found %v", got)
	}
}

func TestMoreShardsThanHaveSeriesAreCounted(t *testing.T) {
	var shards []string
	for i := range 250 {
		shards = append(shards, fmt.Sprintf("shard-%03d", i))
	}
	tab := table(shards...)
	tab.Collections = []*topology.Collection{collection("db.x", 250, shards...)}
	got := scrape(t, NewCluster(sources(tab)))
	expect.Equal(t, got[`shardboard_metrics_left_out_shards{`+id+`}`], 50, "shards left out")
	expect.Equal(t, got[`shardboard_chunks{`+id+`}`], 250, "chunks of all shards are not counted")
}

func TestHostileNamesBreakNothing(t *testing.T) {
	long := strings.Repeat("n", 300)
	shards := []string{"a\nb", `a\nb`, "q\"uote\\", "\xff\xfe", "\xff\xfd", "other", long + "1", long + "2", "{x=\"1\"}", "\u202etxt",
		"# HELP x"}
	tab := table(shards...)
	for i, name := range shards {
		tab.Collections = append(tab.Collections, collection(topology.Namespace("db."+name), 22, shards...))
		tab.Shards[i].ReplSet = name
	}
	slices.SortFunc(tab.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	slices.SortFunc(tab.Shards, func(a, b topology.Shard) int { return strings.Compare(a.Name, b.Name) })
	tab.ServerInfo.Version = "5.0\n# TYPE evil gauge\nevil 1"
	moves := NewMoves(nil)
	moves.read(tab)
	from := sources(tab)
	from.Moves = moves
	from.Costs = func() map[string]Cost { return map[string]Cost{"find\n": {}, "find": {}} }
	got := scrape(t, NewCluster(from))
	on := map[string]bool{}
	for name := range got {
		if strings.HasPrefix(name, "shardboard_collection_chunks") {
			on[name] = true
		}
		expect.That(t, !strings.HasPrefix(name, "evil") && len(name) <= 700, "%.80s… of %d bytes", name, len(name))
	}
	expect.Equal(t, len(on), len(shards)*len(shards), "pairs")
}

func TestLabelsOfDifferentNamesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"", "other", "a", "a\n", `a\n`, "\xff", "\xfe", strings.Repeat("é", 100), strings.Repeat("é", 101)} {
		label := labelOf(name)
		if was, ok := seen[label]; ok {
			t.Errorf("%q and %q are both %q", was, name, label)
		}
		if label == otherLabel || len(label) > maxLabel+13 || strings.ContainsAny(label, "\n\r") {
			t.Errorf("%q becomes %q", name, label)
		}
		seen[label] = name
	}
}
