package rules

import "shardboard/internal/balance"

// blockedOn counts the chunks of a shard that a rule of the balancer keeps there,
// up to 1000, and gives the first such rule.
func (ev *evaluation) blockedOn(shard string) (n int, why balance.Verdict) {
	for _, c := range ev.sharded() {
		p := ev.plan(c)
		for i := range c.Chunks.Len() {
			if c.Chunks.Owner(i) != shard {
				continue
			}
			e := p.Explain(i)
			if e.Decision != balance.Stays {
				break // one chunk that may move shows that the collection is not blocked
			}
			n++
			if v := blocker(e); why.Code == "" && v.Code != "" {
				why = v
			}
			if n >= 1000 {
				return n, why
			}
		}
	}
	return n, why
}

// blocker is the first rule that keeps a chunk.
func blocker(e balance.Explanation) balance.Verdict {
	for _, v := range e.Verdicts {
		if v.Outcome == balance.Blocks {
			return v
		}
	}
	return balance.Verdict{}
}
