// Package actions is the one door through which shardboard changes a cluster.
//
// Each kind of change has a Planner: a pure function from a Situation and its
// arguments to a Draft that says exactly which commands would be sent, what each
// needs and what proves it, what it changes, what stands against it and how it is
// taken back. A planner sends and reads nothing; a draft that a check blocks is
// shown and never run. PlanUndo is the planner of all undos.
//
// Admin says which commands there are: it is implemented by package cluster and
// promises that a command is sent once or not at all, and that what is not known
// of its effect is said to be unknown.
package actions
