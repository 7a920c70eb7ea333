package api

import (
	"time"
)

// PlanApproval is what a second person says about a plan.
type PlanApproval struct {
	Needed    bool       `json:"needed"`
	Because   []Sentence `json:"because"` // why it is needed
	State     string     `json:"state"`   // none, asked, approved, void
	By        string     `json:"by,omitempty"`
	ByName    string     `json:"byName,omitempty"`
	At        *time.Time `json:"at"`               // when somebody answered
	ExpiresAt *time.Time `json:"expiresAt"`        // asked: until when it can be approved; approved: until when it counts
	Void      Sentence   `json:"void,omitzero"`    // why it does not count
	Covered   Sentence   `json:"covered,omitzero"` // by which other approval, if none is needed because of that
}

// WaitingPlan is a plan that needs approval and that nobody has approved (GET approvals).
type WaitingPlan struct {
	ID        string     `json:"id"` // of the plan
	Kind      string     `json:"kind"`
	Summary   string     `json:"summary"`
	By        string     `json:"by"` // who made it: principal id
	ByName    string     `json:"byName"`
	Reason    string     `json:"reason"`
	MadeAt    *time.Time `json:"madeAt"`
	ExpiresAt *time.Time `json:"expiresAt"` // until when somebody can approve it
	ForYou    bool       `json:"forYou"`    // the reader can approve it, unless a check blocks it
}

// PlanApprove approves a plan of somebody else (POST plans/{id}/approve).
type PlanApprove struct {
	Hash string `json:"hash"` // of the plan that was shown
}

// PlanRefuse says that a plan must not be run, or takes an approval back (POST plans/{id}/refuse).
type PlanRefuse struct {
	Reason string `json:"reason"`
}
