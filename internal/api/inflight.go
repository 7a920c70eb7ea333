package api

import "time"

// InFlight is one running migration (GET activity/inflight).
type InFlight struct {
	NS         string    `json:"ns"`
	Ref        string    `json:"ref"` // reference of the chunk it moves, or part of which it moves; "" if the collection is unknown
	Min        Key       `json:"min"`
	Max        Key       `json:"max"` // null if the cluster does not report it
	KeyProject           // of min
	From       string    `json:"from"`
	To         string    `json:"to"`
	Since      time.Time `json:"since"`
	AtLeast    bool      `json:"atLeast"` // it began before since, which is when it was first seen
	Arrived    bool      `json:"arrived"` // the recipient owns the range; only deletion on the donor is left

	WaitForDelete bool `json:"waitForDelete"` // it ends only after the donor has deleted the range
	FromChangelog bool `json:"fromChangelog"` // the release has no list of migrations, or reading it is not permitted

	// The last reported step of donor and recipient, of how many; 0 of 0: none was seen.
	Step           int    `json:"step"`
	Steps          int    `json:"steps"`
	StepInferred   bool   `json:"stepInferred"` // inferred from the recipient's step: the donor shows its own only briefly
	RecipientStep  int    `json:"recipientStep"`
	RecipientSteps int    `json:"recipientSteps"`
	StepsReason    string `json:"stepsReason,omitempty"` // why steps and requester are unknown: notPermitted, unreachable, failed
	Privilege      string `json:"privilege,omitempty"`   // privilege to grant for them

	By  string `json:"by"`            // run (one of ours), balancer, client, unknown
	App string `json:"app,omitempty"` // application name of the requesting client
	Run string `json:"run,omitempty"` // ours: the run's id

	// Copied is how much the recipient's document count has grown since it was first read,
	// including writes of applications. Estimate is the number of documents in the range, from
	// averages.
	Copied   Figure   `json:"copied"`
	Estimate Figure   `json:"estimate"`
	Left     TimeLeft `json:"left"`

	// For pages only. Each of the texts has the sentence that explains it.
	Key           string     `json:"-"` // identifies its row
	Range         RangeShown `json:"-"`
	State         Explained  `json:"-"`
	StepText      Explained  `json:"-"`
	RecipientText Explained  `json:"-"` // zero if nothing is known of it
	ByText        Explained  `json:"-"`
	CopiedText    Explained  `json:"-"`
	CopiedShare   float64    `json:"-"` // 0..1 of Estimate; negative if unknown
	LeftText      Explained  `json:"-"`
}

// MovingNow is a list of migrations under way as a page shows it, the oldest first.
type MovingNow struct {
	Items []InFlight
	More  int    // how many more the activity page lists
	Note  string // what is copied as a whole, and where the list comes from, if that is not the best source
	None  string // instead of items: nothing moves, or that is not known
	State State  // what is wrong with the list: not permitted, stale
}

// TimeLeft is how long something will still take. Seconds is null if unknown, with Reason; it is
// never zero.
type TimeLeft struct {
	Seconds *int64 `json:"seconds"`
	Reason  string `json:"reason,omitempty"`
}

// MovingPlace says that a migration is moving the located object: the answer changes when it
// commits.
type MovingPlace struct {
	From  string    `json:"from"`
	To    string    `json:"to"`
	Since time.Time `json:"since"`
	Whole bool      `json:"whole"` // false: only part of the possible range is moving
}
