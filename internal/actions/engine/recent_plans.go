package engine

import (
	"context"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// approvalWindow is the time in which what one person runs without approval adds up.
const approvalWindow = time.Hour

// recentPlans are plans that a person has run without approval.
type recentPlans struct {
	ids           []string // the newest first
	chunks, bytes int64    // that they change at most
}

// personOf is who made a plan; a token counts as its owner, and without a known owner as itself.
func personOf(by auth.Principal) string {
	if person := by.Person(); person != "" {
		return person
	}
	return by.ID
}

// recentOf adds up what the maker of a plan has run in the last hour. Approved runs and undos are aside, and
// so are plans that were not run.
func (e *approvals) recentOf(ctx context.Context, p actions.Plan) (out recentPlans, err error) {
	rules := e.opts.Approval.Rules
	if rules.Chunks <= 0 && rules.Bytes <= 0 || p.UndoOf != "" {
		return out, nil
	}
	const page = 100
	since := e.now().Add(-approvalWindow)
	for before := int64(0); ; {
		rows, err := e.opts.Journal.RunRecords(ctx, e.clusterID(), before, page)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			before = row.Seq
			if !row.Started.After(since) {
				return out, nil
			}
			if err := e.addRecent(ctx, &out, p, row.ID); err != nil {
				return out, err
			}
		}
		if len(rows) < page {
			return out, nil
		}
	}
}

// addRecent adds a run, if it counts for the maker of a plan.
func (e *approvals) addRecent(ctx context.Context, out *recentPlans, p actions.Plan, id string) error {
	run, err := e.runByID(ctx, id)
	if err != nil || run.Approval != nil || run.UndoOf != "" || run.Parent != "" || run.Plan == p.ID {
		return err
	}
	of, err := e.PlanByID(ctx, run.Plan)
	if err != nil || personOf(of.By) != personOf(p.By) {
		return err
	}
	chunks, bytes := of.Effect.Whole()
	if mostOf(chunks)+mostOf(bytes) == 0 {
		return nil
	}
	out.ids = append(out.ids, of.ID)
	out.chunks += mostOf(chunks)
	out.bytes += mostOf(bytes)
	return nil
}

// mostOf is the upper end of a figure; 0 if it is not known.
func mostOf(f topology.Figure) int64 {
	if !f.Known {
		return 0
	}
	return f.Value + f.PlusMinus
}

// because lists why a plan that needs no approval alone needs it with those before it.
func (r recentPlans) because(rules actions.ApprovalRules, p actions.Plan) (out []message.Message) {
	chunks, bytes := p.Effect.Whole()
	const named = 5
	plans := message.Words("plans", strings.Join(r.ids[:min(len(r.ids), named)], ", "))
	n := message.Count("n", len(r.ids))
	if most := mostOf(chunks); rules.Chunks > 0 && most > 0 && r.chunks > 0 && r.chunks+most > rules.Chunks {
		out = append(out, message.New("approval.chunksAdded",
			"Number of chunks that it changes together with what you ran in the last hour without approval: {chunks}. More than {limit} "+
				"need it. Counted plans: {n} ({plans}).",
			message.Count("chunks", r.chunks+most), message.Count("limit", rules.Chunks), n, plans))
	}
	if most := mostOf(bytes); rules.Bytes > 0 && most > 0 && r.bytes > 0 && r.bytes+most > rules.Bytes {
		out = append(out, message.New("approval.bytesAdded",
			"Together with what you ran in the last hour without approval it moves up to {bytes}, and more than {limit} needs it. "+
				"Counted plans: {n} ({plans}).",
			message.Bytes("bytes", r.bytes+most), message.Bytes("limit", rules.Bytes), n, plans))
	}
	return out
}

// left are the rules for a plan after the others: as much as they leave.
func (r recentPlans) left(rules actions.ApprovalRules) actions.ApprovalRules {
	if rules.Chunks > 0 {
		rules.Chunks = max(1, rules.Chunks-r.chunks)
	}
	if rules.Bytes > 0 {
		rules.Bytes = max(1, rules.Bytes-r.bytes)
	}
	return rules
}
