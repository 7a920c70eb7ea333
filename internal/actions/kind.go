package actions

import "shardboard/internal/actions/operation"

// Kind is the name of a kind of change in the API and on the command line.
type Kind = operation.Kind
