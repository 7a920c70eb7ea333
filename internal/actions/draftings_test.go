package actions

import (
	"slices"
	"testing"

	"shardboard/internal/actions/operation"
)

func TestEveryOperationIsOfAKindAndHasAnUndoOrNoneAtAll(t *testing.T) {
	var kinds []operation.Op
	for _, k := range Descriptions() {
		kinds = append(kinds, k.Sends...)
	}
	for _, op := range operation.Operations() {
		if !slices.Contains(kinds, op) {
			t.Errorf("%s is of no kind: it would never need approval", op)
		}
		if draftings[op].undo == nil && (operation.Step{Op: op}).Invertible() {
			t.Errorf("%s has no undo and is not final", op)
		}
	}
}
