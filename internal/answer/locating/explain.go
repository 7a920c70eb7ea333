package locating

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/causes"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
)

// Prover asks the cluster about places: its own routing and row counts.
type Prover interface {
	// Prove asks the mongos where it would look, by explain plans only.
	Prove(context.Context, placement.Place) placement.Proof
	// Count is how many rows a place has; unknown where only a broadcast could tell.
	Count(context.Context, placement.Place) topology.Figure
	// Primaries are the primary members by shard, as far as the mongos tells; nil when it does not.
	Primaries(context.Context) map[string]string
}

// LocateExtras says what a locate answer has besides the places.
type LocateExtras struct {
	Why    bool // the chain and the sentence; reads nothing
	Prove  bool // one explain per place, and who is primary
	Counts bool // one query per place
}

// Parameters are those of an address that ask for more than places.
func (a *LocateExtras) Parameters() param.List {
	return param.List{
		param.Flag(&a.Why, "why", "1 adds to each place the chain from value to machines, and a sentence for a ticket"),
		param.Flag(&a.Prove, "prove", "1 compares each place with the mongos's explain; at most 24"),
		param.Flag(&a.Counts, "counts", "1 counts the rows of each place by one query of at most 2 s"),
	}
}

// What one answer may ask the cluster, and how much of it at a time.
const (
	MaxAsked   = 24
	askWorkers = 4
	askWait    = 10 * time.Second
)

// explain adds what was asked for to items, which were made of what was found.
// A place that has moved meanwhile is replaced in both. The table should be the one
// they were found in.
func explain(ctx context.Context, v answer.View, prover Prover, found []placement.Item, items []api.LocateItem, a LocateExtras) {
	if a == (LocateExtras{}) {
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
				explainPlace(v, v.Table, p, out, primaries)
			}
			if prover == nil || !a.Prove && !a.Counts {
				continue
			}
			if n++; n > MaxAsked {
				notAsked(out, a)
				continue
			}
			gate <- struct{}{}
			workers.Go(func() {
				defer func() { <-gate }()
				if now := askCluster(ctx, v, prover, p, out, a, primaries); now != nil {
					found[i].Places[j] = *now
				}
			})
		}
	}
	workers.Wait()
	for i := range items {
		for j := range items[i].Places {
			p := &items[i].Places[j]
			applyCount(p)
			if more := ticketRows(p.Rows); more != "" && p.Sentence != "" && p.State != "absent" {
				p.Sentence = sanitize.Sentence(strings.TrimSuffix(p.Sentence, ".") + ", " + more + ".")
			}
		}
	}
}

// askCluster runs on a goroutine of its own; nothing in it panics on cluster data,
// which the driver has already validated. It gives the place as it is by now
// when the table that was read again for the proof has it elsewhere.
func askCluster(
	ctx context.Context,
	v answer.View,
	prover Prover,
	p placement.Place,
	out *api.Place,
	a LocateExtras,
	primaries map[string]string,
) (now *placement.Place) {
	if a.Prove {
		found := prover.Prove(ctx, p)
		if now = found.Moved; now != nil {
			p, *out = *now, placeOf(*now)
			if a.Why {
				explainPlace(v, found.Table, p, out, primaries)
			}
		}
		proof := proofOf(found)
		out.Proof = &proof
	}
	if a.Counts {
		rows := answer.FigureOf(prover.Count(ctx, p))
		out.Rows = &rows
	}
	return now
}

func notAsked(out *api.Place, a LocateExtras) {
	if a.Prove {
		out.Proof = &api.Proof{State: string(placement.ProofSkipped), Ours: answer.NotNil(out.Shards), Theirs: []string{},
			Text: "Not checked: one answer proves at most " + strconv.Itoa(MaxAsked) + " places."}
	}
	if a.Counts {
		out.Rows = &api.Figure{Reason: "notAsked"}
	}
}

func explainPlace(v answer.View, t *topology.Table, p placement.Place, out *api.Place, primaries map[string]string) {
	w := placement.WhyOf(t, p)
	why := causes.WhyOf(t, p.NS, w, primaries)
	out.Why, out.Sentence = &why, causes.SentenceOf(v, p.NS, w)
}
