package actions

import "shardboard/internal/actions/operation"

// drafting is what planning adds to the row of an operation.
type drafting struct {
	undo func(*draftBuilder, operation.Step, Effect) error // nil: no command takes it back, and a run that did nothing else cannot be undone
	late bool                                              // undone after zones and settings, because a move against a zone is refused
	rest func(*draftBuilder, operation.Step) error         // plans what is left of it; nil: all of it, unless it is proven
}

// draftings has them by operation. It is filled once, because what is planned looks at it again.
var draftings map[operation.Op]drafting

func init() {
	draftings = map[operation.Op]drafting{
		operation.OpBalancerOn:     {undo: undo((*draftBuilder).undoBalancer)},
		operation.OpBalancerOff:    {undo: undo((*draftBuilder).undoBalancer)},
		operation.OpBalancerWindow: {undo: undo((*draftBuilder).undoWindow)},
		operation.OpAddZone:        {undo: undo((*draftBuilder).undoMembership), rest: (*draftBuilder).remainingMembership},
		operation.OpRemoveZone:     {undo: undo((*draftBuilder).undoMembership), rest: (*draftBuilder).remainingMembership},
		operation.OpBeginRemoval:   {undo: undo((*draftBuilder).undoDraining)},
		operation.OpStartDraining:  {undo: undo((*draftBuilder).undoDraining)},
		operation.OpStopDraining:   {undo: undo((*draftBuilder).undoStopDraining)},
		operation.OpSetRange:       {undo: undo((*draftBuilder).undoSetRange), rest: (*draftBuilder).remainingSetRange},
		operation.OpRemoveRange:    {undo: undo((*draftBuilder).setRangeOf), rest: (*draftBuilder).remainingRemoveRange},
		operation.OpSplitAt:        {undo: undo((*draftBuilder).undoSplitAt), late: true, rest: (*draftBuilder).remainingSplit},
		operation.OpSplitMedian:    {undo: undo((*draftBuilder).undoSplitMedian), late: true, rest: (*draftBuilder).remainingMedian},
		operation.OpMerge:          {undo: undo((*draftBuilder).splitAgain), late: true, rest: (*draftBuilder).remainingMerge},
		operation.OpMove:           {undo: undo((*draftBuilder).undoMove), late: true, rest: (*draftBuilder).remainingMove},
		operation.OpMoveRange:      {undo: undo((*draftBuilder).undoMove), late: true, rest: (*draftBuilder).remainingMove},
		operation.OpMigrations:     {undo: undo((*draftBuilder).undoMigrations)},
		operation.OpBalancing:      {undo: undo((*draftBuilder).undoSwitch)},
		operation.OpChunkSize:      {undo: undo((*draftBuilder).undoChunkSize)},
		operation.OpAutoMerge:      {undo: undo((*draftBuilder).undoSwitch)},
		operation.OpDefragment:     {undo: undo((*draftBuilder).undoDefragment)},
		operation.OpReshard:        {undo: undo((*draftBuilder).undoReshard), late: true},
		operation.OpMovePrimary:    {undo: undo((*draftBuilder).undoMovePrimary)},
		operation.OpMoveCollection: {undo: undo((*draftBuilder).undoMoveCollection)},
		operation.OpAwait:          {undo: (*draftBuilder).undoAwait, late: true},
	}
}

// undo is an undo that does not depend on the effect of the plan.
func undo(f func(*draftBuilder, operation.Step) error) func(*draftBuilder, operation.Step, Effect) error {
	return func(d *draftBuilder, s operation.Step, _ Effect) error { return f(d, s) }
}
