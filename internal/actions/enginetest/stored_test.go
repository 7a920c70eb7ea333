package enginetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// records are what a disk holds.
type records struct {
	Plans   []store.PlanRecord     `json:",omitempty"`
	Runs    []store.RunRecord      `json:",omitempty"`
	Intents []store.IntentRecord   `json:",omitempty"`
	Asked   []store.ApprovalRecord `json:",omitempty"`
}

// stored are the records of a case: of its plan that waits for approval, of its run that a crash interrupted, of its
// run that has ended. Shown are the answers of the API for them.
type stored struct {
	Name               string
	Asked, Open, Ended records
	PlanJSON, OpenJSON json.RawMessage
	EndedJSON          json.RawMessage
	Sentences          []string // about the steps of the plan, one by one and together
	Used               []string // what came of it: approved and run, continued, undone
}

const storedFile = "testdata/stored.json.gz"

func readStored(t *testing.T) (all []stored) {
	t.Helper()
	f, err := os.Open(filepath.FromSlash(storedFile))
	if os.IsNotExist(err) && *update {
		return nil
	}
	must.Do(t, err)
	defer func() { _ = f.Close() }()
	z := must.Get(gzip.NewReader(f))
	body, err := io.ReadAll(z)
	if err == nil {
		err = json.Unmarshal(body, &all)
	}
	must.Do(t, err)
	return all
}

// What earlier releases have stored can be shown, continued and undone: plans and runs of each command and each kind.
// The file has been written by the release that introduced a case. -update adds the cases that it lacks, and changes
// nothing else.
func TestStoredPlansAndRunsAreUsedAsWritten(t *testing.T) {
	all := readStored(t)
	var mu sync.Mutex
	if *update {
		t.Cleanup(func() { writeStored(t, all) })
	}
	for i, c := range storedCases() {
		n := slices.IndexFunc(all, func(s stored) bool { return s.Name == c.Name })
		t.Run(c.Name, func(t *testing.T) {
			if n < 0 && *update {
				s := c.record(t)
				s.PlanJSON, s.OpenJSON, s.EndedJSON, s.Sentences = s.shown(t)
				s.Used = c.use(t, s)
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
				return
			}
			must.That(t, n >= 0, "not stored")
			mu.Lock()
			s := all[n]
			mu.Unlock()
			plan, open, ended, sentences := s.shown(t)
			expect.That(t, slices.Equal(sentences, s.Sentences),
				"said differently:\n%s\nwas\n%s", strings.Join(sentences, "\n"), strings.Join(s.Sentences, "\n"))
			for _, x := range []struct{ got, want json.RawMessage }{{plan, s.PlanJSON}, {open, s.OpenJSON}, {ended, s.EndedJSON}} {
				expect.That(t, shownAs(x.got, x.want), "shown differently:\n%s\nwas\n%s", x.got, x.want)
			}
			if testing.Short() && i%5 != 3 {
				return
			}
			if got := c.use(t, s); !slices.Equal(got, s.Used) {
				t.Errorf("used differently:\n%s\nwas\n%s", strings.Join(got, "\n"), strings.Join(s.Used, "\n"))
			}
		})
	}
}

// shownAs reports whether one answer has all that another has; it may have fields besides.
func shownAs(got, want json.RawMessage) bool {
	var has func(got, want any) bool
	has = func(got, want any) bool {
		switch want := want.(type) {
		case map[string]any:
			of, ok := got.(map[string]any)
			for k, v := range want {
				x, there := of[k]
				ok = ok && there && has(x, v)
			}
			return ok
		case []any:
			of, ok := got.([]any)
			return ok && slices.EqualFunc(of, want, has)
		}
		return got == want
	}
	var g, w any
	if json.Unmarshal(got, &g) != nil || json.Unmarshal(want, &w) != nil {
		return false
	}
	return has(g, w)
}

// Every kind of change is stored, as a plan, as an open run and as an ended run.
func TestEveryKindIsStored(t *testing.T) {
	missing := map[string]bool{}
	for _, k := range actions.Kinds() {
		missing[string(k)] = true
	}
	for _, s := range readStored(t) {
		for _, x := range []struct {
			what string
			runs []store.RunRecord
			open bool
		}{{"open", s.Open.Runs, true}, {"ended", s.Ended.Runs, false}} {
			expect.That(t, len(x.runs) != 0 && x.runs[0].Open == x.open, "%s: no %s run", s.Name, x.what)
		}
		if len(s.Asked.Plans) != 1 || len(s.Asked.Asked) != 1 {
			t.Errorf("%s: no plan that waits for approval", s.Name)
			continue
		}
		delete(missing, s.Asked.Plans[0].Kind)
	}
	expect.That(t, len(missing) == 0, "not stored: %v", missing)
}

func writeStored(t *testing.T, all []stored) {
	slices.SortFunc(all, func(a, b stored) int { return strings.Compare(a.Name, b.Name) })
	body := must.Get(json.Marshal(all))
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	_, _ = z.Write(body)
	must.Do(t, z.Close())
	must.Do(t, os.WriteFile(filepath.FromSlash(storedFile), out.Bytes(), 0o644))
}

// record makes the records of a case.
func (c storedCase) record(t *testing.T) (s stored) {
	s.Name = c.Name
	var sends []actions.Kind
	OnRig(t, c.setup(), func(r *Rig) {
		p := c.Plan(r)
		sends = append(p.Sends(), p.Kind)
		i := slices.IndexFunc(p.Commands, func(x operation.Command) bool { return len(x.Doc) > 0 })
		rule := simcluster.Rule{Command: "moveChunk", At: simcluster.Received} // of a batch
		if i >= 0 {
			first, err := p.Commands[i].Doc.Index(0).KeyErr()
			r.Must(err)
			rule.Command = first
		}
		r.startAndHold(p, rule)
		r.Kill()
		s.Open = r.Disk.records()
		r.heal()
	})
	OnRig(t, c.setup(), func(r *Rig) {
		r.WaitLongEnd(r.Start(c.Plan(r)).ID)
		s.Ended = r.Disk.records()
	})
	c.rules = actions.ApprovalRules{Kinds: sends}
	OnRig(t, c.setup(), func(r *Rig) {
		c.Plan(r)
		s.Asked = r.Disk.records()
	})
	return s
}

// shown are the answers of the API for the records. Each record is decoded, and encoded as it was.
func (s stored) shown(t *testing.T) (plan, open, ended json.RawMessage, sentences []string) {
	t.Helper()
	v := answer.View{Table: &topology.Table{}}
	decode := func(body []byte, into any) {
		t.Helper()
		must.Do(t, json.Unmarshal(body, into))
		if again, err := json.Marshal(into); err != nil || !bytes.Equal(again, body) {
			t.Errorf("stored as %s, was %s (%v)", again, body, err)
		}
	}
	encode := func(x any) json.RawMessage {
		t.Helper()
		return must.Get(json.Marshal(x))
	}
	var p actions.Plan
	decode(s.Asked.Plans[0].Body, &p)
	runs := func(records []store.RunRecord) json.RawMessage {
		out := []any{}
		for _, x := range records {
			var r engine.Run
			decode(x.Body, &r)
			out = append(out, changing.RunOf(v, r))
		}
		return encode(out)
	}
	shown := changing.PlanOf(v, p)
	for _, s := range p.Steps {
		sentences = append(sentences, s.Text().Code+": "+s.Text().String())
	}
	for _, l := range shown.Outline {
		sentences = append(sentences, l.Text.Code+": "+l.Text.String())
	}
	return encode(shown), runs(s.Open.Runs), runs(s.Ended.Runs), sentences
}

// use continues with the records on clusters that are as they were, and says what came of it.
func (c storedCase) use(t *testing.T, s stored) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	on := func(have records, sent []store.IntentRecord, use func(r *Rig)) {
		OnRig(t, c.setup(), func(r *Rig) {
			c.Plan(r)
			r.Kill()
			for _, x := range sent {
				if x.DB == "" {
					continue // of a batch: names the run of an item
				}
				if _, err := r.Sim.Command(r.Context(), x.DB, bson.Raw(x.Command)); err != nil {
					say("%s", err)
				}
			}
			r.Disk.load(have)
			r.Boot()
			use(r)
		})
	}
	var p actions.Plan
	must.Do(t, json.Unmarshal(s.Asked.Plans[0].Body, &p))
	asks := c
	c.rules = actions.ApprovalRules{Kinds: append(p.Sends(), p.Kind)}
	on(s.Asked, nil, func(r *Rig) {
		again := r.Plan(p.Kind, p.Args)
		say("planned again: the same %t", again.Hash == p.Hash)
		_, err := r.Engine.Approve(r.Context(), Bert, p.ID, p.Hash)
		if err != nil {
			say("not approved: %s", fault.Text(err))
			return
		}
		run, _, err := r.RunPlan(Anna, p)
		if err != nil {
			say("not run: %s", fault.Text(err))
			return
		}
		say("approved: %s", asLine(r.WaitLongEnd(run.ID)))
	})
	c = asks
	on(s.Open, nil, func(r *Rig) { say("continued before its command: %s", asLine(r.WaitLongEnd(s.Open.Runs[0].ID))) })
	on(s.Open, s.Open.Intents, func(r *Rig) { say("continued after its command: %s", asLine(r.WaitLongEnd(s.Open.Runs[0].ID))) })
	on(s.Ended, s.Ended.Intents, func(r *Rig) {
		undo, err := r.Engine.Undo(r.Context(), Anna, s.Ended.Runs[0].ID, "")
		if err != nil {
			say("not undone: %s", fault.Text(err))
			return
		}
		say("undo: %s", undo.Hash)
		run, _, err := r.RunPlan(Anna, undo)
		if err != nil {
			say("undo not run: %s", fault.Text(err))
			return
		}
		say("undone: %s", asLine(r.WaitLongEnd(run.ID)))
	})
	return out
}

// asLine is what became of a run.
func asLine(r engine.Run) string {
	out := fmt.Sprintf("%s %s", r.State, r.Why.Code)
	for _, s := range r.Steps {
		out += fmt.Sprintf("; %s %s %s", s.Op, s.State, s.Why.Code)
	}
	return out
}

// records returns what is on the disk.
func (d *Disk) records() (out records) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.plans {
		out.Plans = append(out.Plans, p)
	}
	for _, a := range d.asked {
		out.Asked = append(out.Asked, a)
	}
	out.Runs, out.Intents = slices.Clone(d.runs), slices.Clone(d.intents)
	return out
}

// load replaces what is on the disk.
func (d *Disk) load(have records) {
	d.forget()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range have.Plans {
		d.plans[p.ID] = p
	}
	for _, a := range have.Asked {
		d.asked[a.Plan] = a
	}
	d.runs, d.intents = slices.Clone(have.Runs), slices.Clone(have.Intents)
}

// forget removes all plans and runs.
func (d *Disk) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.plans)
	clear(d.asked)
	d.runs, d.intents = nil, nil
}
