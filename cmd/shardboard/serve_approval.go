package main

import (
	"time"

	"shardboard/internal/app"
)

// approvalFlags say which plans need the approval of a second person.
type approvalFlags struct {
	ApprovalBytes  string        `name:"approval-bytes" env:"SHARDBOARD_APPROVAL_BYTES" placeholder:"SIZE" help:"A plan that moves more than this, such as 10GB, needs the approval of somebody else; so does one of which that is not known (docs/actions.md). Needs sign-in. Default: no limit."`
	ApprovalChunks int           `name:"approval-chunks" env:"SHARDBOARD_APPROVAL_CHUNKS" placeholder:"N" help:"A plan that moves, splits or merges more chunks than this needs the approval of somebody else. Needs sign-in. Default: 0, no limit."`
	ApprovalKinds  []string      `name:"approval-kinds" env:"SHARDBOARD_APPROVAL_KINDS" placeholder:"KIND" help:"Kinds of changes that always need the approval of somebody else, such as balancer-off; several by several flags, or separated by ','. Needs sign-in. Default: none."`
	ApprovalWait   time.Duration `name:"approval-wait" default:"4h" env:"SHARDBOARD_APPROVAL_WAIT" placeholder:"TIME" help:"How long a plan that needs approval can be approved and run, from 15m to 24h. Default 4h."`
}

func (f approvalFlags) approval() (app.Approval, error) {
	return app.ReadApproval(f.ApprovalBytes, f.ApprovalChunks, f.ApprovalKinds, f.ApprovalWait)
}
