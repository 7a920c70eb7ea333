package answer

import (
	"maps"
	"strconv"

	"shardboard/internal/api"
	"shardboard/internal/balance"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/web/words"
)

// balanceOf puts the rules' verdicts on one chunk into words.
func balanceOf(p *balance.Plan, i int) api.WhyBalance {
	e := p.Explain(i)
	out := api.WhyBalance{Release: p.Release().String(), Decision: string(e.Decision), Due: string(e.Due), Rules: []api.WhyRule{}}
	for _, v := range e.Verdicts {
		out.Rules = append(out.Rules, api.WhyRule{
			Rule: string(v.Rule), Verdict: string(v.Outcome), Code: v.Code, Args: v.Args, Text: sanitize.Sentence(words.Code("rule", v.Code, ruleArgs(v.Args))),
		})
	}
	args := map[string]string{"why": words.Code("due", out.Due, nil)}
	if e.Move != nil {
		out.To = e.Move.To
		args["to"] = e.Move.To
	}
	args["rule"] = deciding(out)
	out.Text = sanitize.Sentence(words.Code("decision", out.Decision, args))
	return out
}

// deciding is the sentence of the rule that the decision rests on: the first
// that blocks, else is not known, else waits, else the last, which found no
// reason to move.
func deciding(b api.WhyBalance) string {
	for _, verdict := range []balance.Outcome{balance.Blocks, balance.Unknown, balance.Waits} {
		for _, r := range b.Rules {
			if r.Verdict == string(verdict) {
				return r.Text
			}
		}
	}
	return b.Rules[len(b.Rules)-1].Text
}

// ruleArgs are a verdict's arguments as people read them.
func ruleArgs(args map[string]string) map[string]string {
	out := maps.Clone(args)
	for _, name := range []string{"bytes", "toBytes", "apart", "need", "chunkSize"} {
		if n, err := strconv.ParseInt(args[name], 10, 64); err == nil {
			out[name] = format.Bytes(n)
		}
	}
	if zone, ok := args["zone"]; ok {
		out["inzone"] = ""
		if zone != "" {
			out["inzone"] = " of zone " + zone
		}
	}
	return out
}
