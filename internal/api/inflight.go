package api

import "time"

// InFlight is one migration under way (GET activity/inflight).
type InFlight struct {
	NS      string    `json:"ns"`
	Ref     string    `json:"ref"` // of the chunk that it moves, or a part of it; "" when the collection is not known
	Min     Key       `json:"min"`
	Max     Key       `json:"max"` // null where the cluster does not tell it
	From    string    `json:"from"`
	To      string    `json:"to"`
	Since   time.Time `json:"since"`
	AtLeast bool      `json:"atLeast"` // it began before since: that is when it was first seen
	Arrived bool      `json:"arrived"` // the routing table has the range on the recipient; only cleaning up is left

	WaitForDelete bool `json:"waitForDelete"` // it ends only when the donor has deleted the range
	FromChangelog bool `json:"fromChangelog"` // the release keeps no list of migrations, or it may not be read

	// The last step that the donor and the recipient reported, of how many; 0 of
	// 0: none was seen.
	Step           int    `json:"step"`
	Steps          int    `json:"steps"`
	StepInferred   bool   `json:"stepInferred"` // from the recipient's: the donor shows its own for moments only
	RecipientStep  int    `json:"recipientStep"`
	RecipientSteps int    `json:"recipientSteps"`
	StepsReason    string `json:"stepsReason,omitempty"` // why steps and who asked are not known: notPermitted, unreachable, failed
	Privilege      string `json:"privilege,omitempty"`   // what to grant for them

	By  string `json:"by"`            // run (one of ours), balancer, client, unknown
	App string `json:"app,omitempty"` // the name that the program which asked gave itself
	Run string `json:"run,omitempty"` // ours: its id

	// Copied is by how many documents the recipient's count grew since it was
	// first counted: writes of applications are in it. Estimate is how many the
	// range has, from averages.
	Copied   Figure   `json:"copied"`
	Estimate Figure   `json:"estimate"`
	Left     TimeLeft `json:"left"`
}

// TimeLeft is how long something still takes. Seconds null means unknown, and
// then Reason says why; it is never zero.
type TimeLeft struct {
	Seconds *int64 `json:"seconds"`
	Reason  string `json:"reason,omitempty"`
}

// MovingPlace tells of a located thing that a migration moves it now: the answer
// changes when that commits.
type MovingPlace struct {
	From  string    `json:"from"`
	To    string    `json:"to"`
	Since time.Time `json:"since"`
	Whole bool      `json:"whole"` // false: only a part of where it may be moves
}
