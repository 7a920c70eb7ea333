package problems_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// written is a view with counted writes: documents by chunk of changes, each with its rows in 10 s.
type written struct {
	v     answer.View
	c     *topology.Collection
	slots []heat.Slot
	used  int
}

func newWritten() *written {
	v := webtest.NewStory().View()
	return &written{v: v, c: v.Table.Collection("yorkie-meta.changes")}
}

// add counts rows in 10 s for each of some new documents in a chunk, all of one project.
func (w *written) add(chunk, documents int, rows int64, project bson.ObjectID) {
	if w.slots == nil {
		for at := w.v.Now.Truncate(time.Minute).Add(-10 * time.Minute); at.Before(w.v.Now.Add(-heat.Tick)); at = at.Add(heat.Tick) {
			w.slots = append(w.slots, heat.Slot{NS: w.c.NS, From: at, To: at.Add(heat.Tick), Every: 1})
		}
	}
	for n := 0; n < documents; {
		w.used++
		id := bson.NewObjectIDFromTimestamp(webtest.Epoch)
		id[9], id[10], id[11] = byte(w.used>>16), byte(w.used>>8), byte(w.used)
		k := webtest.Must(w.c.Key.KeyOf(placement.ObjectIDValue(id)))
		if i, _ := w.c.Chunks.Find(k); i != chunk {
			continue
		}
		n++
		for i := range w.slots {
			w.slots[i].Counts = append(w.slots[i].Counts, heat.Count{Project: project, Document: id, Rows: rows})
		}
	}
}

// view is the view with what the rules find in it.
func (w *written) view() answer.View {
	for i := range w.slots {
		heat.Place(w.v.Table, profile.Yorkie(), &w.slots[i])
	}
	counts := heat.NewCollector(nil, nil, profile.Yorkie(), heat.Options{})
	counts.Recall(w.slots)
	w.v.Counts = counts
	found := rules.View{Report: rules.Evaluate(rules.Situation{Table: w.v.Table, Directory: w.v.Dir, Profile: w.v.Profile, Now: w.v.Now,
		Counting: true, Writes: rules.WritesOf(counts, w.v.Table, w.v.Profile, rules.Window)})}
	w.v.Found = &found
	return w.v
}

// drafting tries plans as the engine does: where a hot chunk is written is read when the plan is made.
type drafting struct{}

func (drafting) Try(t *topology.Table, dir *placement.Directory, k actions.Kind, a actions.Args) (actions.Draft, error) {
	d, _, err := actions.PlanChange(actions.Situation{Table: t, Directory: dir, Profile: profile.Yorkie(), Now: webtest.Epoch,
		Release: balance.ReleaseOf("7.0.5"), Activity: operation.Activity{Known: true, At: webtest.Epoch}}, k, a)
	d.Checks = slices.DeleteFunc(d.Checks, func(c actions.Check) bool { return c.Text.Code == "writes.unknown" })
	return d, err
}

func adviceFor(t *testing.T, v answer.View, rule rules.Rule) api.Advice {
	t.Helper()
	var trials offering.Trials
	for _, a := range problems.Advice(v, problems.Problems(v), "", problems.AdviceMay{Plan: true, Try: trials.On(v, drafting{})}).Items {
		if a.Rule == string(rule) {
			return a
		}
	}
	t.Fatalf("%s does not fire", rule)
	return api.Advice{}
}

// chunksOn are the chunks of changes on the shard of a chunk, that one first.
func (w *written) chunksOn(chunk int) (out []int) {
	out = []int{chunk}
	for i, owner := range w.c.Chunks.Owners() {
		if i != chunk && owner == w.c.Chunks.Owner(chunk) {
			out = append(out, i)
		}
	}
	return out
}

func TestARemedyMovesWhatItIsAbout(t *testing.T) {
	project := webtest.NewStory().ProjectIDs()[3]
	t.Run("a split divides the hot chunk", func(t *testing.T) {
		w := newWritten()
		w.add(5, 10, 20, project) // 20 writes/s
		for i := range w.c.Chunks.Len() {
			w.add(i, 1, 1, project)
		}
		got := adviceFor(t, w.view(), rules.HotShard)
		if len(got.Plans) == 0 || got.Plans[0].Kind != "split-hot" || !got.Plans[0].Best || got.Plans[0].URL == "" {
			t.Fatalf("%+v, refused %+v", got.Plans, got.Refused)
		}
		hot := got.Plans[0].Writes[0]
		if fall := hot.PerSecondBefore - hot.PerSecondAfter; hot.Shard != w.c.Chunks.Owner(5) || fall < 9.9 || fall > 10.2 {
			t.Errorf("%+v, want about 10 of 20 writes/s to leave %s", got.Plans[0].Writes, w.c.Chunks.Owner(5))
		}
		expect.Contains(t, got.Plans[0].Expected, " writes/s, ", "the text")
	})
	t.Run("what helps is blocked, and the card says by what and until when", func(t *testing.T) {
		w := newWritten()
		w.add(5, 10, 20, project)
		w.c.MigrationsBlocked = true
		got := adviceFor(t, w.view(), rules.HotShard)
		const why = "Moves of yorkie-meta.changes are blocked (allowMigrations: false). Allow them first."
		const when = "It is possible when moves of the collection are allowed."
		if len(got.Plans) > 0 || len(got.Refused) == 0 || !got.Refused[0].Best || got.Refused[0].When != when ||
			got.WhyNot != "What helps is blocked: "+why+" "+when {
			t.Errorf("offered %+v, refused %+v: %s", got.Plans, got.Refused, got.WhyNot)
		}
	})
	t.Run("no plan divides a document that makes everything", func(t *testing.T) {
		w := newWritten()
		w.add(5, 1, 200, project)
		got := adviceFor(t, w.view(), rules.HotDocument)
		if len(got.Plans) > 0 || !strings.Contains(got.WhyNot, "The application has to write to it less often") {
			t.Errorf("%+v: %s", got.Plans, got.WhyNot)
		}
	})
	t.Run("a project's documents are not what it writes", func(t *testing.T) {
		w := newWritten()
		w.add(5, 10, 20, project)
		got := adviceFor(t, w.view(), rules.HotProject)
		expect.That(t, len(got.Plans) != 0 && got.Plans[0].Kind == "split-hot", "offered %+v", got.Plans)
		for _, p := range got.Refused {
			if p.Kind == "isolate" && p.Why == "It moves none of these writes." {
				return
			}
		}
		t.Errorf("offered %+v, refused %+v, want isolate refused", got.Plans, got.Refused)
	})
	t.Run("one of many equal chunks is too little", func(t *testing.T) {
		w := newWritten()
		for _, i := range w.chunksOn(5) {
			w.add(i, 5, 4, project)
		}
		if n := len(w.chunksOn(5)); n < 11 {
			t.Fatal("too few chunks:", n)
		}
		for _, p := range adviceFor(t, w.view(), rules.HotShard).Refused {
			expect.That(t, strings.HasPrefix(p.Why, "It lowers the busiest shard's share only from 100"), "%v %v", p.Kind, p.Why)
		}
	})
}
