package app

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"shardboard/internal/profile"
	"shardboard/internal/profile/propose"
	"shardboard/internal/topology"
)

const (
	// proposeAgain is how long a proposal stands when the collections change: reading rows again costs the cluster.
	proposeAgain = 10 * time.Minute
	// proposeAtMost bounds one proposal.
	proposeAtMost = time.Minute
)

// proposer proposes a profile while the cluster fits none. A cluster that fits one is never read for it.
// Safe for concurrent use.
type proposer struct {
	src     propose.Source
	watcher *topology.Watcher
	profile *profile.Profile
	log     *slog.Logger

	mu   sync.Mutex
	got  propose.Proposal
	made bool

	of []string // collections and keys that it was made of, nil to make it again; of the running goroutine only
}

// Proposal is the newest one; false before it was made.
func (p *proposer) Proposal() (propose.Proposal, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got, p.made
}

func (p *proposer) run(ctx context.Context) error {
	table, news, end := p.watcher.Subscribe()
	defer end()
	changed := news
	for {
		wait := proposeAgain
		switch {
		case !listed(table) || len(p.profile.Match(table)) > 0:
			wait = 0
		case p.of == nil || !slices.Equal(p.of, keysOf(table)):
			p.read(ctx, table)
		default:
			wait = 0
		}
		var later <-chan time.Time // else it is enough to wait for another table
		if wait > 0 {
			later, changed = time.After(wait), nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-later:
		case <-changed:
		}
		changed = news
		table = p.watcher.Table()
	}
}

func (p *proposer) read(ctx context.Context, t *topology.Table) {
	ctx, cancel := context.WithTimeout(ctx, proposeAtMost)
	defer cancel()
	got, err := propose.Read(ctx, p.src, t, propose.Options{})
	if err != nil {
		p.log.Warn("propose a profile", "err", err)
		return
	}
	if p.of = keysOf(t); len(got.Unread) > 0 {
		p.of = nil // it may be readable next time
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.got, p.made = got, true
}

// listed reports whether all collections were read that may be.
func listed(t *topology.Table) bool {
	return t.Loaded && (t.Unsharded != nil || t.Health[topology.PartCollections].Err != nil)
}

// keysOf are the sharded collections with their keys, and the others: what a proposal is made of.
func keysOf(t *topology.Table) []string {
	out := []string{} // not nil: an empty cluster was looked at too
	for _, c := range t.Collections {
		out = append(out, string(c.NS)+" "+c.Key.String())
	}
	for _, ns := range t.Unsharded {
		out = append(out, string(ns))
	}
	return out
}
