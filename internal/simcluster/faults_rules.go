package simcluster

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// defaultPatience is how long a step waits for Rule.Do by default: longer than a small migration
// or a round of the balancer takes.
const defaultPatience = time.Second

// Add adds a rule.
func (f *Faults) Add(r Rule) *Planted {
	if r.Patience == 0 {
		r.Patience = defaultPatience
	}
	p := &Planted{rule: r, faults: f, reached: make(chan struct{}), gone: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	p.id = f.last
	f.rules = append(f.rules, p)
	f.armed.Add(1)
	return p
}

// Remove removes the rule. Operations that it holds continue with the rule's other
// effects. Removing again does nothing.
func (p *Planted) Remove() {
	f := p.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.removed {
		return
	}
	p.removed = true
	close(p.gone)
	f.rules = slices.DeleteFunc(f.rules, func(o *Planted) bool { return o == p })
	f.armed.Add(-1)
}

// Reached is closed when the rule has applied for the first time.
func (p *Planted) Reached() <-chan struct{} { return p.reached }

// Struck is how often the rule has applied.
func (p *Planted) Struck() int {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return p.struck
}

// Heal removes all rules and thaws all members.
func (f *Faults) Heal() {
	f.mu.Lock()
	rules := slices.Clone(f.rules)
	f.mu.Unlock()
	for _, p := range rules {
		p.Remove()
	}
	for _, name := range f.Frozen() {
		f.Thaw(name)
	}
}

// Hits lists the newest 20,000 faults that happened, in order.
func (f *Faults) Hits() []Hit {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.hits)
}

// matching lists the rules that apply to this occurrence.
func (f *Faults) matching(p catalog.Point, body bson.Raw) []*Planted {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []*Planted
	for _, r := range f.rules {
		if r.matches(p, body) && r.due(f.cluster.catalog.Now()) {
			out = append(out, r)
		}
	}
	return out
}

func (p *Planted) matches(at catalog.Point, body bson.Raw) bool {
	r := &p.rule
	if r.At != at.Step || r.NS != "" && r.NS != at.NS {
		return false
	}
	if r.Match != nil && (body == nil || !r.Match(body)) {
		return false
	}
	switch r.Command {
	case "", at.Command:
		return true
	case "move":
		return at.Command == "moveChunk" || at.Command == "moveRange" || at.Command == "balancer"
	}
	return false
}

// due counts an occurrence and reports whether the rule applies to it. The caller holds
// Faults.mu.
func (p *Planted) due(now time.Time) bool {
	r := &p.rule
	if p.matched++; p.matched < r.Nth {
		return false
	}
	switch {
	case r.For > 0 && p.struck == 0:
		p.until = now.Add(r.For)
	case r.For > 0 && now.After(p.until):
		return false
	case r.For == 0 && r.Times >= 0 && p.struck >= max(r.Times, 1):
		return false
	}
	if p.struck++; p.struck == 1 {
		close(p.reached)
	}
	return true
}
