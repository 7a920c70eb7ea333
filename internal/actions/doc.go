// Package actions is the only package through which shardboard changes a cluster.
//
// Each kind of change has a Description with its arguments and a planner: a pure
// function from a Situation and the arguments to a Draft. A draft holds the exact
// commands, what each of them requires, what proves its effect, what the change
// affects, which checks were made, and how it is undone. Planning sends nothing
// and reads nothing from the cluster. A draft with a check that blocks is shown
// but cannot be run. PlanUndo plans the undo of every kind.
//
// Package actions/operation has the commands and the facts, actions/engine runs plans.
package actions
