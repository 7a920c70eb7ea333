package main

import (
	"fmt"
	"io"
	"strings"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
)

// printRun writes a run for people: its state, then each step with its proof or its error.
func printRun(w io.Writer, r api.Run) {
	line(w, "run %s: %s", r.ID, changing.RunStateText(r))
	line(w, "  %s", changing.RunMeaningText(r))
	if r.Batch == nil {
		line(w, "  %s", changing.RunStepsText(r))
	}
	printAbout(w, r)
	line(w, "  ended %s", timeText(r.EndedAt, "not yet"))
	for _, text := range answer.DeletionTexts(r.Deletions) {
		line(w, "  %s", text)
	}
	if r.Batch != nil {
		printBatch(w, r)
	}
	for _, s := range changing.ListSteps(r.Steps) {
		printStep(w, r, s)
	}
	printAdapted(w, r)
	printOutcome(w, r)
	if changing.StandingKnown(r) {
		line(w, "  %s", r.Standing.Text)
	}
	if r.BlockedBy != "" {
		line(w, "  Stop the run in the way: shardboard runs stop %s.", r.BlockedBy)
	}
	if r.CanFinish {
		line(w, "  Plan the rest: shardboard runs finish %s. Plan the undo: shardboard runs undo %s.", r.ID, r.ID)
	}
}

// printAbout writes the facts of a run that rarely change: the plan, its reason, who started,
// stopped or undid it.
func printAbout(w io.Writer, r api.Run) {
	line(w, "  %s", r.Summary.String())
	line(w, "  %s", changing.RequestedText(r.ByName, r.By, r.Reason))
	line(w, "  plan %s", r.Plan)
	line(w, "  started %s", timeText(r.StartedAt, "not yet"))
	if stop := changing.RunStopText(r); stop != "" {
		line(w, "  %s", stop)
	}
	if r.UndoOf != "" {
		line(w, "  undoes the run %s", r.UndoOf)
	}
	if r.UndoneBy != "" {
		line(w, "  undone by the run %s", r.UndoneBy)
	}
}

// printAdapted writes when and why the rest of a run was planned again.
func printAdapted(w io.Writer, r api.Run) {
	for _, a := range changing.ListAdaptations(r) {
		line(w, "  %s", a.Text)
		for _, d := range a.Because {
			line(w, "       %s", d.Text.String())
		}
	}
}

// printOutcome writes whether a run helped, if that is a question.
func printOutcome(w io.Writer, r api.Run) {
	if !changing.AsksOutcome(r) {
		return
	}
	line(w, "  Did it help? %s %s", changing.OutcomeLabel(r), r.Outcome.Text)
	for _, text := range append([]string{changing.OutcomeCompared(r.Outcome)}, changing.OutcomeRemarks(r.Outcome)...) {
		if text != "" {
			line(w, "       %s", text)
		}
	}
}

func printStep(w io.Writer, r api.Run, s changing.ListedStep) {
	state := engine.State(s.State).StepLabel()
	if s.Try > 1 {
		state += fmt.Sprintf(" (try %d)", s.Try)
	}
	line(w, "  %d  %-9s  %s", s.Number, state, commandText(s.Op, s.DB, s.Command))
	details := []string{changing.StepProgressText(s.RunStep), strings.Join(changing.StepWaitTexts(s.State, s.Waiting), " "), s.Why.String()}
	if s.Error != "" {
		details = append(details, "The server says: "+s.Error)
	}
	details = append(details, s.Means)
	for _, d := range s.Changed {
		details = append(details, d.Text.String())
	}
	for _, e := range s.Events {
		details = append(details, "logged "+timeText(e.At, "?")+": "+changing.StepEventText(e))
	}
	for _, p := range s.Proof {
		details = append(details, "read "+timeText(p.At, "?")+": "+proofText(p))
	}
	for _, text := range append(details, changing.StepCostText(r, s.Index)) {
		if text != "" {
			line(w, "       %s", text)
		}
	}
}

func proofText(p api.StepProof) string {
	var fields []string
	for _, f := range changing.ProvenFields(p) {
		fields = append(fields, f.Text)
	}
	return changing.ProofSubject(p).String() + ": " + strings.Join(fields, ", ")
}
