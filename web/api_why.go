package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/words"
)

// Prover asks the cluster about places: its own routing and row counts.
type Prover interface {
	Prove(context.Context, placement.Place) placement.Proof
	Count(context.Context, placement.Place) topology.Figure
	Primaries(context.Context) map[string]string
}

// Ask says what a locate answer holds beyond the places.
type Ask struct {
	Why    bool // the chain and the sentence; reads nothing
	Prove  bool // one explain per place, and who is primary
	Counts bool // one query per place
}

func (a Ask) any() bool { return a.Why || a.Prove || a.Counts }

// askOf reads why=1, prove=1 and counts=1.
func askOf(q url.Values) (a Ask, err error) {
	for name, into := range map[string]*bool{"why": &a.Why, "prove": &a.Prove, "counts": &a.Counts} {
		given, err := flag(q, name)
		if err != nil {
			return a, err
		}
		*into = given != nil && *given
	}
	return a, nil
}

// What one answer may ask the cluster, and how much of it at a time.
const (
	maxAsked   = 24
	askWorkers = 4
	askWait    = 10 * time.Second
)

// Explain fills in what was asked for of found things: items are those that
// LocateItems made of them. A place that has moved meanwhile is replaced in both. The table should be the one they were found in;
// prover may be nil when nothing of the cluster is asked.
func Explain(ctx context.Context, t *topology.Table, prover Prover, found []placement.Item, items []api.LocateItem, a Ask) {
	if !a.any() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	var primaries map[string]string
	if a.Prove && prover != nil {
		primaries = prover.Primaries(ctx)
	}
	var workers sync.WaitGroup
	gate := make(chan struct{}, askWorkers)
	n := 0
	for i, it := range found {
		for j, p := range it.Places {
			out := &items[i].Places[j]
			if a.Why {
				w := placement.WhyOf(t, p)
				why := whyOf(t, p.NS, w, primaries)
				out.Why, out.Sentence = &why, sentenceOf(p.NS, w)
			}
			if prover == nil || !a.Prove && !a.Counts {
				continue
			}
			if n++; n > maxAsked {
				notAsked(out, a)
				continue
			}
			gate <- struct{}{}
			workers.Go(func() {
				defer func() { <-gate }()
				if now := ask(ctx, prover, p, out, a, primaries); now != nil {
					found[i].Places[j] = *now
				}
			})
		}
	}
	workers.Wait()
	for i := range items {
		for j := range items[i].Places {
			p := &items[i].Places[j]
			takeCount(p)
			if more := ticketRows(p.Rows); more != "" && p.Sentence != "" && p.State != "absent" {
				p.Sentence = sanitize.Sentence(strings.TrimSuffix(p.Sentence, ".") + ", " + more + ".")
			}
		}
		items[i].Answer = headlineOf(items[i]).sentence()
	}
}

// ask runs on a goroutine of its own; nothing in it panics on cluster data,
// which the driver has already validated. It gives the place as it is by now
// when the table that was read again for the proof has it elsewhere.
func ask(ctx context.Context, prover Prover, p placement.Place, out *api.Place, a Ask, primaries map[string]string) (now *placement.Place) {
	if a.Prove {
		found := prover.Prove(ctx, p)
		if now = found.Moved; now != nil {
			p, *out = *now, placeOf(*now)
			if a.Why {
				w := placement.WhyOf(found.Table, p)
				why := whyOf(found.Table, p.NS, w, primaries)
				out.Why, out.Sentence = &why, sentenceOf(p.NS, w)
			}
		}
		proof := proofOf(found)
		out.Proof = &proof
	}
	if a.Counts {
		rows := figureOf(prover.Count(ctx, p))
		out.Rows = &rows
	}
	return now
}

func notAsked(out *api.Place, a Ask) {
	if a.Prove {
		out.Proof = &api.Proof{State: string(placement.ProofSkipped), Ours: notNil(out.Shards), Theirs: []string{}, Text: words.T("proof.limit", "n", strconv.Itoa(maxAsked))}
	}
	if a.Counts {
		out.Rows = &api.Figure{Reason: "notAsked"}
	}
}

func proofOf(p placement.Proof) api.Proof {
	out := api.Proof{State: string(p.State), Ours: notNil(p.Ours), Theirs: notNil(p.Theirs), Newer: string(p.Newer), Reread: p.Reread, Seq: p.Seq,
		Read: api.Time(p.Read), At: api.Time(p.At)}
	code := out.State
	switch {
	case p.State == placement.ProofDiffers && p.Newer == "":
		code += ".unsure"
	case p.State == placement.ProofDiffers, p.State == placement.ProofCaughtUp:
		code += "." + out.Newer
	}
	why := ""
	if p.Err != nil {
		why = fault.Text(p.Err)
	}
	out.Text = sanitize.Sentence(words.Code("proof", code, map[string]string{"ours": shardList(p.Ours), "theirs": shardList(p.Theirs), "why": why}))
	return out
}

func shardList(names []string) string {
	if len(names) == 0 {
		return words.T("proof.nobody")
	}
	return joinWords(names)
}

// apiChunkWhy tells why one chunk is where it is and what the balancer makes
// of it.
func (s *Site) apiChunkWhy(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	c, i, err := s.chunkAt(r, v)
	if err != nil {
		return err
	}
	out := chunkWhy(v.Table, balance.PlanOf(balance.Situation{Table: v.Table}, c), c, i)
	out.Freshness = whyFreshness(v)
	out.Moving = inFlightOf(v, movingChunk(v, c, i))
	size := chunkSizeOf(v, c, c.Chunks.At(i))
	out.Size, out.Dangers = &size, []api.Danger{}
	for _, d := range s.knownDangers(c, i) {
		ids := make([]string, len(d.IDs))
		for k, id := range d.IDs {
			ids[k] = id.Hex()
		}
		out.Dangers = append(out.Dangers, api.Danger{Shard: d.Shard, IDs: ids})
	}
	return writeJSON(w, http.StatusOK, out)
}

// knownDangers are the moves of a chunk that would bring two equal ids
// together, as far as the check for duplicate ids has found any.
func (s *Site) knownDangers(c *topology.Collection, i int) []placement.Danger {
	if s.deps.Duplicates == nil {
		return nil
	}
	return placement.Dangers(c, i, s.deps.Duplicates.Report().Found)
}

// whyFreshness is the age of what the rules look at.
func whyFreshness(v View) api.Freshness {
	return freshnessOf(v, topology.PartRouting, topology.PartShards)
}

// chunkAt finds the chunk that the address names: exactly that one, not what
// it has become, for an answer about another chunk would be wrong.
func (s *Site) chunkAt(r *http.Request, v View) (*topology.Collection, int, error) {
	c, err := s.sharded(r, v.Table)
	if err == nil {
		err = mayNameKeys(v, "hidden.chunk")
	}
	if err != nil {
		return nil, 0, err
	}
	ref, err := pathText(r, "ref")
	if err != nil {
		return nil, 0, err
	}
	if !strings.Contains(ref, ".") {
		ref = identityOf(c) + "." + ref // the bound alone: of the collection as it is now
	}
	k, err := parseChunkRef(c, ref)
	if err != nil {
		return nil, 0, err
	}
	i, ch := c.Chunks.Find(k)
	if i < 0 || ch.Min.Compare(k) != 0 {
		return nil, 0, fault.New(fault.NotFound, "%s", words.T("why.chunk.none", "ns", string(c.NS)))
	}
	return c, i, nil
}

func chunkWhy(t *topology.Table, p *balance.Plan, c *topology.Collection, i int) api.ChunkWhy {
	w := placement.WhyChunkOf(t, c, i)
	return api.ChunkWhy{
		NS: string(c.NS), Chunk: whyChunkOf(c, w), Why: whyOf(t, c.NS, w, nil), Balance: balanceOf(p, i),
		Sentence: sentenceOf(c.NS, w),
	}
}

// apiProjectWhy is apiChunkWhy for the chunks of one project.
func (s *Site) apiProjectWhy(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	raw, err := pathText(r, "id")
	if err != nil {
		return err
	}
	id, err := bson.ObjectIDFromHex(raw)
	if err != nil {
		return fault.New(fault.Invalid, "A project id is 24 hexadecimal digits; %q is not.", sanitize.Truncate(raw, 60))
	}
	pr, ok := v.Dir.ByID(id)
	if !ok {
		return fault.New(fault.NotFound, "There is no project with id %s in %s.", id.Hex(), strings.Join(v.Dir.Databases(), ", "))
	}
	out := api.ProjectWhy{Project: id.Hex(), Name: pr.Name, Collections: projectWhy(v.Table, placement.SpreadOf(v.Table, s.deps.Profile, pr))}
	out.Freshness = whyFreshness(v)
	return writeJSON(w, http.StatusOK, out)
}

// projectWhy explains the collections of a project that exist: its own chunks
// where the key begins with the project, the rule alone elsewhere.
func projectWhy(t *topology.Table, spread placement.Spread) []api.CollectionWhy {
	out := []api.CollectionWhy{}
	for _, cs := range spread.Collections {
		if cs.Presence == placement.PresenceNo {
			continue
		}
		row := api.CollectionWhy{NS: string(cs.NS), Basis: cs.Basis, Text: words.Code("basis", cs.Basis, nil), Of: cs.ChunkCount, Chunks: []api.ChunkWhy{}}
		switch {
		case cs.Basis == placement.BasisPrimary && len(cs.Shards) == 1:
			row.Text = words.T("why.primary", "shard", cs.Shards[0].Shard, "db", cs.NS.Database())
		case cs.Basis == placement.BasisByDocument:
			row.Text = words.T("why.bydoc")
		}
		if c := t.Collection(cs.NS); c != nil && cs.Basis == placement.BasisKeyPrefix {
			plan := balance.PlanOf(balance.Situation{Table: t}, c)
			for _, ch := range cs.Chunks[:min(len(cs.Chunks), chunksListed)] {
				i, _ := c.Chunks.Find(ch.Min)
				row.Chunks = append(row.Chunks, chunkWhy(t, plan, c, i))
			}
		}
		out = append(out, row)
	}
	return out
}
