package api

import (
	"time"
)

// PastProblem is a time in which a problem lasted (GET advice/past).
type PastProblem struct {
	ID           string     `json:"id"` // of the problem: the same when it comes again
	Rule         string     `json:"rule"`
	Severity     string     `json:"severity"` // the greatest of that time, of what followed from it too
	Began        time.Time  `json:"began"`
	BeganEarlier bool       `json:"beganEarlier"` // nobody checked before began, so it may have begun earlier
	Ended        *time.Time `json:"ended"`        // null: it lasts
	EndedUnseen  bool       `json:"endedUnseen"`  // nobody checked when it ended: ended is when it was last found
	Seconds      int64      `json:"seconds"`      // how long it lasted, or has lasted so far
	Title        Sentence   `json:"title"`        // at its worst
	Worst        string     `json:"worst"`        // the figure at its worst, with its unit; "" for none
	WorstAt      time.Time  `json:"worstAt"`
	Subject      string     `json:"subject"`
	NS           string     `json:"ns,omitempty"`
	Project      string     `json:"project,omitempty"` // hex ObjectID
	Shard        string     `json:"shard,omitempty"`
	Document     string     `json:"document,omitempty"` // hex ObjectID of a Yorkie document
	Count        int        `json:"count"`              // objects that it was about

	Figure       *AdviceFigure        `json:"figure" csv:"-"` // behind worst; null for none
	Consequences []AdviceConsequence  `json:"consequences" csv:"-"`
	Links        PastProblemAddresses `json:"-"`
}

// PastProblemAddresses lead from a past problem to pages about its time.
type PastProblemAddresses struct{ Overview, Postmortem string }

// PastProblems is a page of past problems, the newest begin first.
type PastProblems struct {
	Items     []PastProblem `json:"items"`
	Next      Cursor        `json:"next"`
	AsOf      time.Time     `json:"asOf"`
	Stale     bool          `json:"stale"`
	From      time.Time     `json:"from"` // requested begin
	To        time.Time     `json:"to"`
	NotJudged []HistoryGap  `json:"notJudged"` // spans in [from, to) in which nobody checked: problems of them are not known
}

// Postmortem is what was wrong in a time, what was done, and what that changed (GET postmortem).
type Postmortem struct {
	From      time.Time     `json:"from"`
	To        time.Time     `json:"to"`
	AsOf      time.Time     `json:"asOf"`
	Summary   string        `json:"summary"`
	Problems  []PastProblem `json:"problems"`  // oldest first
	NotJudged []HistoryGap  `json:"notJudged"` // spans in which nobody checked
	// Runs of shardboard that lasted at some time in it, oldest first; null: changes are switched off here.
	Runs []PostmortemRun `json:"runs"`
	// Changes that the cluster or its log showed, oldest first, at most 300, without the server's own collections.
	Changes     []PostmortemChange `json:"changes"`
	MoreChanges bool               `json:"moreChanges"` // there were more
	Gaps        []HistoryGap       `json:"gaps"`        // spans in which nobody recorded changes; they appear at the end
	NoHistory   string             `json:"noHistory"`   // why changes are not known; "" if they are
}

// PostmortemRun is a run and whether it helped.
type PostmortemRun struct {
	ID        string     `json:"id"`
	Kind      string     `json:"kind"`
	Summary   string     `json:"summary"`
	State     string     `json:"state"`
	By        string     `json:"by"`
	ByName    string     `json:"byName"`
	Approved  string     `json:"approvedBy,omitempty"`
	Reason    string     `json:"reason"`
	StartedAt *time.Time `json:"startedAt"`
	EndedAt   *time.Time `json:"endedAt"` // null while open
	UndoOf    string     `json:"undoOf,omitempty"`
	UndoneBy  string     `json:"undoneBy,omitempty"`

	Verdict string         `json:"verdict"` // whether it helped, in a few words; "" if that is not asked of it
	Outcome string         `json:"outcome"` // the same as a sentence
	Shards  []OutcomeShard `json:"shards"`  // writes of the shards before and after it; empty if not measured

}

// PostmortemChange is a change of the cluster, as a sentence.
type PostmortemChange struct {
	Time  time.Time `json:"time"`
	Kind  string    `json:"kind"` // as in history; of an entry of the changelog its name
	Text  string    `json:"text"`
	By    string    `json:"by"`            // who caused it, in words; "" if that cannot be known
	Run   string    `json:"run,omitempty"` // of shardboard
	Count int       `json:"count"`         // changes of the same kind, cause and place within a minute

	Failed bool `json:"failed"`
}
