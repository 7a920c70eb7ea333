package workload

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// recorder is a cluster that accepts everything and keeps what it was sent.
type recorder struct {
	mu       sync.Mutex
	rows     map[string][]bson.Raw
	commands []string
	inserted []string // collections that insert commands named
}

func (r *recorder) Command(_ context.Context, db string, cmd any) (bson.Raw, error) {
	b, err := bson.Marshal(cmd)
	if err != nil {
		return nil, err
	}
	first, err := bson.Raw(b).IndexErr(0)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.commands = append(r.commands, db+" "+first.Key())
	if coll, ok := first.Value().StringValueOK(); ok && first.Key() == "insert" {
		r.inserted = append(r.inserted, coll)
	}
	return bson.Marshal(bson.D{{Key: "ok", Value: 1.0}})
}

func (r *recorder) BulkInsert(ns string, docs []bson.Raw) error {
	r.rows[ns] = append(r.rows[ns], docs...)
	return nil
}

func smallOptions(layout string) Options {
	epoch := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	return Options{
		Seed: 7, Epoch: epoch, Layout: layout, Database: "yorkie-meta", Projects: 60, Documents: 500,
		Shards: []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}, Now: func() time.Time { return epoch }, Log: slog.New(slog.DiscardHandler),
	}
}

func load(t *testing.T, o Options) (*recorder, *Workload) {
	t.Helper()
	r := &recorder{rows: map[string][]bson.Raw{}}
	w, err := Load(t.Context(), r, o)
	must.Do(t, err)
	return r, w
}

func TestSameSeedAndEpochGiveTheSameData(t *testing.T) {
	for _, layout := range layouts {
		a, _ := load(t, smallOptions(layout))
		b, _ := load(t, smallOptions(layout))
		if len(a.rows) == 0 || len(a.rows) != len(b.rows) {
			t.Fatalf("%s: %d and %d collections", layout, len(a.rows), len(b.rows))
		}
		for ns, rows := range a.rows {
			if !slices.EqualFunc(rows, b.rows[ns], func(x, y bson.Raw) bool { return bytes.Equal(x, y) }) {
				t.Errorf("%s: %s differs between two loads of one seed", layout, ns)
			}
		}
		o := smallOptions(layout)
		o.Seed++
		if c, _ := load(t, o); bytes.Equal(c.rows["yorkie-meta.changes"][0], a.rows["yorkie-meta.changes"][0]) {
			t.Errorf("%s: another seed gives the same changes", layout)
		}
	}
}

func TestLoadCreatesTheRequestedCounts(t *testing.T) {
	r, _ := load(t, smallOptions("yorkie-head"))
	expect.Equal(t, len(r.rows["yorkie-meta.projects"]), 60, "projects")
	expect.Equal(t, len(r.rows["yorkie-meta.documents"]), 500, "documents")
	bySize := map[bson.ObjectID]int{}
	for _, d := range r.rows["yorkie-meta.documents"] {
		bySize[d.Lookup("project_id").ObjectID()]++
	}
	largest := 0
	for _, n := range bySize {
		largest = max(largest, n)
	}
	if largest < 50 || largest > 200 {
		t.Errorf("the largest of 60 projects has %d of 500 documents; Zipf gives about a fifth, want 50 to 200", largest)
	}
}

func TestRowsBelongTogether(t *testing.T) {
	r, _ := load(t, smallOptions("yorkie-head"))
	projects, documents := map[bson.ObjectID]bool{}, map[bson.ObjectID]bson.ObjectID{}
	for _, p := range r.rows["yorkie-meta.projects"] {
		projects[p.Lookup("_id").ObjectID()] = true
	}
	for _, d := range r.rows["yorkie-meta.documents"] {
		if p := d.Lookup("project_id").ObjectID(); !projects[p] {
			t.Fatalf("document of an unknown project %s", p.Hex())
		}
		documents[d.Lookup("_id").ObjectID()] = d.Lookup("project_id").ObjectID()
	}
	for _, coll := range []string{"changes", "snapshots", "versionvectors", "revisions"} {
		rows := r.rows["yorkie-meta."+coll]
		expect.That(t, len(rows) != 0, "%s is empty", coll)
		seen := map[string]bool{}
		for _, c := range rows {
			if documents[c.Lookup("doc_id").ObjectID()] != c.Lookup("project_id").ObjectID() {
				t.Fatalf("%s: a row of document and project that do not belong together: %s", coll, c)
			}
			if coll == "changes" {
				k := c.Lookup("doc_id").ObjectID().Hex() + c.Lookup("server_seq").String()
				must.That(t, !seen[k], "two changes with one server_seq: %s", k)
				seen[k] = true
			}
		}
	}
}

func TestLiveWritersInsertIntoTheSameCollectionsAsYorkie(t *testing.T) {
	for _, layout := range []string{"yorkie-0.4", "yorkie-head"} {
		synctest.Test(t, func(t *testing.T) {
			r, w := load(t, smallOptions(layout))
			r.inserted = nil
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			w.Run(ctx)
			got := map[string]int{}
			for _, coll := range r.inserted {
				got[coll]++
			}
			if current := layout == "yorkie-head"; got["snapshots"] < 5 || got["clients"] == 0 || (got["revisions"] >= 20) != current {
				t.Errorf("%s: five minutes inserted %v", layout, got)
			}
		})
	}
}

func TestLiveWritersStopWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := load(t, smallOptions("yorkie-head"))
		before := len(r.commands)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		w.Run(ctx)
		if n := len(r.commands) - before; n < 120*pushesPerTick {
			t.Errorf("a minute of live writers sent %d commands, want at least %d", n, 120*pushesPerTick)
		}
	})
}

func TestTheBusyProjectIsBusyForAQuarterOfAnHourFromTimeToTime(t *testing.T) {
	for at, want := range map[time.Duration]bool{
		0:                             true,
		15*time.Minute - tick:         true,
		15 * time.Minute:              false,
		24*time.Minute - tick:         false,
		24 * time.Minute:              true,
		39*time.Minute - tick:         true,
		39 * time.Minute:              false,
		24 * time.Hour:                true,
		24*time.Hour + 15*time.Minute: false,
	} {
		expect.Equal(t, busyAt(at), want, "busy %v after the start", at)
	}
}

func TestProjectNamesAreUniqueAndAsYorkieTakesThem(t *testing.T) {
	valid, seen, longest := regexp.MustCompile(`^[a-z0-9._~-]{2,30}$`), map[string]bool{}, 0
	for i := range 1000 {
		name := projectName(i)
		expect.That(t, !seen[name] && valid.MatchString(name), "project %d is named %q", i, name)
		seen[name], longest = true, max(longest, len(name))
	}
	expect.That(t, longest >= 28, "the longest name has %d characters", longest)
}

func TestDocumentKeysAreUniqueInAProjectAndOfManyForms(t *testing.T) {
	valid := regexp.MustCompile(`^[A-Za-z0-9._~-]{4,120}$`)
	var spaces, slashes, other int
	for n := range 20 {
		p, seen := &project{name: projectName(n)}, map[string]bool{}
		for i := range 500 {
			key := documentKey(p, i, false)
			if seen[key] || strings.Contains(key, "%!") || key != documentKey(p, i, false) {
				t.Errorf("document %d of %s has the key %q", i, p.name, key)
			}
			seen[key] = true
			switch {
			case strings.Contains(key, " "):
				spaces++
			case strings.Contains(key, "/"):
				slashes++
			}
			if strings.ContainsFunc(key, func(r rune) bool { return unicode.IsLetter(r) && !unicode.Is(unicode.Latin, r) }) {
				other++
			}
			if key := documentKey(p, i, true); !valid.MatchString(key) {
				t.Errorf("no client may attach to %q", key)
			}
		}
	}
	if spaces == 0 || slashes == 0 || other == 0 {
		t.Errorf("%d keys with spaces, %d with slashes, %d in other scripts", spaces, slashes, other)
	}
}
