package enginetest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
)

var update = flag.Bool("update", false, "rewrite the table of what needs which approval")

// otherWays are plans that send a command of another kind than their own.
func otherWays() []Case {
	chunk := [2]bson.Raw{P(0), P(10)}
	move := actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"}
	paused := func(what string) actions.Args { a := move; a.Pause = what; return a }
	return []Case{
		{Name: "move, with a paused balancer", Before: balancerOn, Kind: actions.MoveChunk, Args: paused(actions.PauseBalancer)},
		{Name: "move, with paused collections", Before: balancerOn, Kind: actions.MoveChunk, Args: paused(actions.PauseCollections)},
		{Name: "move a part before 6.0", Kind: actions.MoveChunk, Args: moveInThreeSteps().Args},
	}
}

// What is sent decides, whatever plan sends it: the plan itself, an item of a batch, its undo, a pause. The table says
// for each command what its plan sends, and what its undo does; each of these kinds asks for approval, alone, and the
// run is refused without one. It also says how many chunks its plan counts below a limit. What a run turns on again
// that it paused is in no row.
func TestApprovalFollowsFromWhatIsSentInEveryWay(t *testing.T) {
	file := filepath.Join("testdata", "approval_ways.txt")
	stored, _ := os.ReadFile(file)
	cases := slices.Concat(Cases(), otherWays())
	modes := []string{actions.ModeMoves, actions.ModeBalancer}
	rows := make([]string, len(cases)+len(modes))
	if *update && !testing.Short() {
		t.Cleanup(func() {
			expect.NoError(t, os.WriteFile(file, []byte(strings.Join(rows, "")), 0o644), "WriteFile")
		})
	}
	for i, c := range cases {
		if testing.Short() && i%5 != 2 && !strings.Contains(c.Name, "balancer") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			var rules actions.ApprovalRules
			s := c.Setup()
			s.Wrap = func(o *engine.Options) { o.Approval.Rules = rules }
			OnRig(t, s, func(r *Rig) {
				rows[i] = c.row(r, &rules)
				expect.That(t, *update || strings.Contains(string(stored), rows[i]), "not in %s: %s", file, rows[i])
			})
		})
	}
	for i, mode := range modes {
		if testing.Short() && mode == actions.ModeMoves {
			continue
		}
		t.Run("pin, mode "+mode, func(t *testing.T) {
			var rules actions.ApprovalRules
			onProjectsOf(t, Setup{Wrap: func(o *engine.Options) { o.Approval.Rules = rules }}, func(r *Rig, project, shard string) {
				c := Case{Name: "pin, mode " + mode, Before: balancerOn, Kind: actions.Pin,
					Args: actions.Args{Project: project, Shard: shard, Mode: mode}}
				row := c.row(r, &rules)
				rows[len(cases)+i] = row
				expect.That(t, *update || strings.Contains(string(stored), row), "not in %s: %s", file, row)
			})
		})
	}
}

// limits checks the limit on chunks just below and at what a plan counts, and describes it.
func (r *Rig) limits(rules *actions.ApprovalRules, p actions.Plan, plan func() actions.Plan) string {
	r.Helper()
	chunks, bytes := p.Effect.Whole()
	most := chunks.Value + chunks.PlusMinus
	needs := func(limit actions.ApprovalRules) bool {
		*rules = limit
		r.Restart()
		p := plan()
		if len(p.Approval) == 0 {
			return false
		}
		r.refuses(Anna, p, fault.Conflict, "")
		return true
	}
	switch {
	case !chunks.Known:
		expect.That(r, needs(actions.ApprovalRules{Chunks: 1 << 40}) && needs(actions.ApprovalRules{Bytes: 1 << 60}),
			"%s changes an unknown number of chunks, and no limit asks for approval", p.Kind)
		return "; chunks counted: unknown"
	case most == 0:
		return ""
	case most > 1 && !needs(actions.ApprovalRules{Chunks: most - 1}) || needs(actions.ApprovalRules{Chunks: most}):
		r.Errorf("%s of %d chunks does not need approval from there on", p.Kind, most)
	}
	if b := bytes.Value + bytes.PlusMinus; bytes.Known && b > 1 && (!needs(actions.ApprovalRules{Bytes: b / 2}) ||
		needs(actions.ApprovalRules{Bytes: 2 * b})) {
		r.Errorf("%s of %d bytes does not need approval from there on", p.Kind, b)
	}
	return fmt.Sprintf("; chunks counted: %d", most)
}

// row checks all ways of a case and describes them.
func (c Case) row(r *Rig, rules *actions.ApprovalRules) string {
	p := c.Plan(r)
	batch := engine.Request{Kind: actions.Batch, Reason: "a test",
		Args: actions.Args{Plans: []actions.PlannedChange{{Kind: c.Kind, Args: c.Args}}}}
	row, batched := fmt.Sprintf("%s: sends %v", c.Name, p.Sends()), true
	if _, err := r.Engine.Plan(r.Context(), Anna, batch); err != nil && strings.Contains(fault.Text(err), "not run in batches") {
		row, batched = row+"; not in batches", false
	}
	for _, k := range p.Sends() {
		r.asks(rules, k, func() actions.Plan { return r.Plan(c.Kind, c.Args) })
		if batched {
			r.asks(rules, k, func() actions.Plan { return r.Plan(actions.Batch, batch.Args) })
		}
	}
	row += r.limits(rules, p, func() actions.Plan { return r.Plan(c.Kind, c.Args) })
	*rules = actions.ApprovalRules{}
	r.Restart()
	run := r.WaitLongEnd(r.Start(r.Plan(c.Kind, c.Args)).ID)
	if c.NoUndo || !run.CanUndo() {
		return row + "\n"
	}
	undo := r.undo(run.ID)
	for _, k := range undo.Sends() {
		r.asks(rules, k, func() actions.Plan { return r.undo(run.ID) })
	}
	others := slices.DeleteFunc(actions.Kinds(), func(k actions.Kind) bool { return slices.Contains(undo.Sends(), k) })
	*rules = actions.ApprovalRules{Kinds: others}
	r.Restart()
	expect.Len(r, r.undo(run.ID).Approval, 0, "the undo, which sends %v", undo.Sends())
	return row + fmt.Sprintf("; its undo %v\n", undo.Sends())
}

// asks fails unless a plan needs approval for a kind, and is not run without one.
func (r *Rig) asks(rules *actions.ApprovalRules, k actions.Kind, plan func() actions.Plan) {
	r.Helper()
	*rules = actions.ApprovalRules{Kinds: []actions.Kind{k}}
	r.Restart()
	p := plan()
	expect.Equal(r, len(p.Approval), 1, "%s with --approval-kinds %s: %v", p.Kind, k, p.Approval)
	r.refuses(Anna, p, fault.Conflict, "approval of somebody else")
}
