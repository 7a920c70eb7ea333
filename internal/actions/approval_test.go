package actions

import (
	"fmt"
	"strings"
	"testing"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

func TestApprovalIsNeededAboveTheLimitsAndWhereNothingIsKnown(t *testing.T) {
	figure := func(value, plusMinus int64) topology.Figure {
		return topology.Figure{Known: true, Value: value, PlusMinus: plusMinus}
	}
	unknown := topology.Figure{}
	for _, c := range []struct {
		rules         ApprovalRules
		kind          Kind
		bytes, chunks topology.Figure
		want          string
	}{
		{ApprovalRules{}, MoveChunk, unknown, unknown, ""},
		{ApprovalRules{Bytes: 10}, MoveChunk, figure(10, 0), unknown, ""},
		{ApprovalRules{Bytes: 10}, MoveChunk, figure(11, 0), unknown, "approval.bytes"},
		{ApprovalRules{Bytes: 10}, MoveChunk, figure(8, 3), unknown, "approval.bytes"},
		{ApprovalRules{Bytes: 10}, MoveChunk, unknown, figure(1, 0), "approval.bytesUnknown"},
		{ApprovalRules{Chunks: 5}, MoveChunk, unknown, figure(5, 0), ""},
		{ApprovalRules{Chunks: 5}, MoveChunk, unknown, figure(6, 0), "approval.chunks"},
		{ApprovalRules{Chunks: 5}, MoveChunk, unknown, unknown, "approval.chunksUnknown"},
		{ApprovalRules{Kinds: []Kind{BalancerOff}}, MoveChunk, unknown, unknown, ""},
		{ApprovalRules{Kinds: []Kind{BalancerOff}}, BalancerOff, figure(0, 0), figure(0, 0), "approval.kind"},
		{ApprovalRules{Bytes: 1, Chunks: 1, Kinds: []Kind{Split}}, Split, figure(2, 0), figure(2, 0),
			"approval.kind approval.bytes approval.chunks"},
	} {
		var got []string
		for _, m := range c.rules.Because(c.kind, false, Draft{Effect: Effect{Bytes: c.bytes, Chunks: c.chunks}}) {
			got = append(got, m.Code)
			expect.Lacks(t, m.String(), "{", "%s", m)
		}
		expect.Equal(t, strings.Join(got, " "), c.want, "%+v: %v", c, got)
	}
}

func TestRunWithoutApprovalCannotGrowBeyondTheApprovalLimits(t *testing.T) {
	l := operation.Limits{Chunks: 10, Bytes: topology.Figure{Known: true, Value: 20}}
	for want, rules := range map[string]ApprovalRules{
		"10 20": {}, "3 20": {Chunks: 3}, "10 7": {Bytes: 7}, "10 20 ": {Chunks: 11, Bytes: 21},
	} {
		got := rules.Cap(l)
		expect.Equal(t, fmt.Sprint(got.Chunks, got.Bytes.Value), strings.TrimSpace(want), "%+v", rules)
	}
	if got := (ApprovalRules{Bytes: 7}).Cap(operation.Limits{}); got.Bytes.Known {
		t.Error("a plan that moves nothing got a limit of bytes")
	}
}

func TestUnknownKindsForApprovalAreRefusedWithTheList(t *testing.T) {
	got, err := ParseApprovalKinds([]string{"split", " move", "split"})
	expect.That(t, err == nil && fmt.Sprint(got) == "[split move]", "%v, %v", got, err)
	for _, bad := range []string{"", "spilt", "Split", "split;move", "x\x1b[0m"} {
		_, err := ParseApprovalKinds([]string{"merge", bad})
		if fault.Of(err) != fault.Invalid || !strings.Contains(fault.Text(err), "balancer-off") || strings.Contains(fault.Text(err), "\x1b") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestABatchNeedsApprovalForTheKindsOfItsItems(t *testing.T) {
	item := func(k Kind) operation.Step {
		return operation.Step{Op: operation.OpItem, Item: &operation.Item{Kind: k}}
	}
	batch := Draft{Steps: []operation.Step{item(Split), item(Pin), item(Pin)}}
	if because := (ApprovalRules{Kinds: []Kind{Pin}}).Because(Batch, false, batch); len(because) != 1 {
		t.Errorf("a batch with pins, of which each needs approval: %v", because)
	}
	if because := (ApprovalRules{Kinds: []Kind{MoveChunk}}).Because(Batch, false, batch); len(because) != 0 {
		t.Errorf("a batch without moves, of which each needs approval: %v", because)
	}
}
