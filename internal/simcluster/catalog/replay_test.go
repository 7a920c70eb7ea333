package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// compareDump compares a recorded config collection with the cluster's.
func (p *replayer) compareDump(s step, db string) {
	p.t.Helper()
	coll := strings.TrimPrefix(s.DB, "config.")
	var want, got []string
	var list []json.RawMessage
	if err := json.Unmarshal(s.Reply, &list); err != nil {
		p.t.Fatal(err)
	}
	for _, text := range list {
		if d := rawJSON(p.t, text); p.isEntryOf(coll, d, db) {
			want = append(want, comparableText(d))
		}
	}
	p.c.Mu.RLock()
	at := p.c.Config.Coll("config", coll)
	if at != nil {
		scan(at, func(_ engine.RecordID, d bson.Raw) bool {
			if p.isEntryOf(coll, d, db) {
				got = append(got, comparableText(d))
			}
			return true
		})
	}
	p.c.Mu.RUnlock()
	if coll == "changelog" {
		want, got = withoutIDs(want), withoutIDs(got)
	} else {
		sort.Strings(want)
		sort.Strings(got)
	}
	if !slices.Equal(want, got) {
		p.t.Errorf("n %d: config.%s %s differs:\n%s", s.N, coll, s.Note, difference(got, want))
	}
}

// isEntryOf reports whether a document belongs to the database; only changelog entries
// can belong to others.
func (p *replayer) isEntryOf(coll string, d bson.Raw, db string) bool {
	if coll != "changelog" {
		return true
	}
	ns, _ := d.Lookup("ns").StringValueOK()
	return ns == db || strings.HasPrefix(ns, db+".")
}

// withoutIDs drops the id and the client address of log entries.
func withoutIDs(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		var d bson.D
		_ = bson.UnmarshalExtJSON([]byte(s), true, &d)
		text, _ := bson.MarshalExtJSON(d[4:], true, false)
		out[i] = fmt.Sprint(d[1].Value, d[2].Value, string(text))
	}
	return out
}

func difference(got, want []string) string {
	var b strings.Builder
	shown := 0
	for i := 0; i < max(len(got), len(want)) && shown < 4; i++ {
		g, w := "(none)", "(none)"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			fmt.Fprintf(&b, " got  %s\n want %s\n", g, w)
			shown++
		}
	}
	return b.String()
}

func (p *replayer) replay(steps []step, db string) {
	for _, s := range steps {
		if s.Kind == "dump" {
			p.compareDump(s, db)
			continue
		}
		reply, err, ok := p.run(s.DB, rawJSON(p.t, s.Cmd))
		if ok && reply != nil || err != nil {
			p.compareReply(s, reply, err)
		}
	}
}

func TestRandomWalksAnswerAsTheRecordedServer(t *testing.T) {
	for _, name := range []string{"walk-1", "walk-2", "walk-3"} {
		t.Run(name, func(t *testing.T) {
			p := newReplayer(t)
			p.replay(readSteps(t, name), strings.ReplaceAll(name, "-", ""))
		})
	}
}

// replayBalancer repeats the recorded balancer's moves between two dumps, from its
// changelog: which chunk it moves first is random.
func (p *replayer) replayBalancer(log step, after int) {
	p.t.Helper()
	var list []json.RawMessage
	if err := json.Unmarshal(log.Reply, &list); err != nil {
		p.t.Fatal(err)
	}
	var points []bson.Raw
	for _, text := range list[after:] {
		d := rawJSON(p.t, text)
		ns := d.Lookup("ns").StringValue()
		details := d.Lookup("details").Document()
		switch d.Lookup("what").StringValue() {
		case "multi-split":
			points = append(points, details.Lookup("chunk", "max").Document())
			if n, of := details.Lookup("number").Int32(), details.Lookup("of").Int32(); n == of {
				if err := p.c.Split(p.t.Context(), ns, points[:len(points)-1]...); err != nil {
					p.t.Fatal(err)
				}
				points = nil
			}
		case "moveChunk.start":
			err := p.c.Move(p.t.Context(), ns, details.Lookup("min").Document(), details.Lookup("max").Document(),
				details.Lookup("to").StringValue(), MoveOptions{})
			if err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

func TestTranscriptAnswersAsTheRecordedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := readSteps(t, "transcript")
		resharded := make(chan error, 1)
		p := newReplayer(t)
		defer p.c.Close()
		for _, s := range steps {
			switch {
			case s.N == 20 || s.N == 21 || s.N == 130: // router pings, earlier entries, a number of rounds
			case s.N == 131: // the balancer worked for 20 s before this
				p.replayBalancer(steps[137], 41)
			case s.N == 176:
				p.c.opts.Reshard = 2 * time.Second
				p.c.SetStill(false)
				go func() {
					_, err, _ := p.run("admin", rawJSON(t, steps[196].Cmd))
					resharded <- err
				}()
				time.Sleep(500 * time.Millisecond)
			case s.N == 185: // seen while it applied
				time.Sleep(750 * time.Millisecond)
				p.replay([]step{s}, "yorkie-meta")
			case s.N == 189: // seen while it blocked writes
				time.Sleep(200 * time.Millisecond)
				p.replay([]step{s}, "yorkie-meta")
			case s.N == 196:
				if err := <-resharded; err != nil {
					t.Fatal(err)
				}
				p.c.SetStill(true)
			default:
				p.replay([]step{s}, "yorkie-meta")
			}
		}
	})
}
