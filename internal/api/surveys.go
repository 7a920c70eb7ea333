package api

import (
	"time"

	"shardboard/internal/message"
)

// Survey is a background measurement of sizes (GET surveys). It reads within a budget of documents
// and resumes after a restart.
type Survey struct {
	ID        string         `json:"id"`
	Kind      string         `json:"kind"`               // projects, project, document; sample for those of earlier versions
	State     string         `json:"state"`              // queued, running, done, stopped, failed
	Project   string         `json:"project,omitempty"`  // hex ObjectID
	Document  string         `json:"document,omitempty"` // id as people write it
	DB        string         `json:"db,omitempty"`
	NS        string         `json:"ns,omitempty"`
	Precision float64        `json:"precision,omitempty"` // requested precision of a sample of an earlier version
	Progress  SurveyProgress `json:"progress"`
	QueuedAt  time.Time      `json:"queuedAt"`
	StartedAt *time.Time     `json:"startedAt"` // null: not yet
	EndedAt   *time.Time     `json:"endedAt"`   // null: not yet
	Method    string         `json:"method"`    // sample: random rows; counted: every row
	By        string         `json:"by"`
	Problem   string         `json:"problem,omitempty"` // why it failed
	Results   Address        `json:"results"`           // address of its results

	ProjectName string `json:"-"` // "" if not known
}

// SurveyProgress is how far a survey is: rows read, or queries for kind document.
type SurveyProgress struct {
	Done       int64  `json:"done"`
	Total      *int64 `json:"total"`      // null: not known
	EtaSeconds *int64 `json:"etaSeconds"` // null: not known, or ended
	PacedDown  bool   `json:"pacedDown"`  // paused because the cluster has become slower
	Returned   int64  `json:"returned"`   // documents returned by the cluster

	Share *float64 `json:"-"` // of the total, at most 1; nil: not known
}

// SurveyDetail is a survey with its results (GET surveys/{survey}).
type SurveyDetail struct {
	Survey
	Collections []SurveyCollection `json:"collections"` // empty while it runs
}

// SurveyCollection is the result for one collection. Totals are from the statistics at that time,
// without orphans if the release reports them.
type SurveyCollection struct {
	NS        string       `json:"ns"`
	Method    string       `json:"method"` // sample or counted
	At        *time.Time   `json:"at"`     // when its last row was read
	Read      int64        `json:"read"`
	Complete  bool         `json:"complete"`
	Reason    string       `json:"reason,omitempty"`  // why it could not be read: notPermitted, gone, tooSlow
	Problem   string       `json:"problem,omitempty"` // Reason as a sentence
	Rows      Figure       `json:"rows"`
	Bytes     Figure       `json:"bytes"`
	Orphans   Figure       `json:"orphans"`
	Projects  []SurveyLine `json:"projects"`           // largest first
	Documents []SurveyLine `json:"documents"`          // largest Yorkie documents first
	Unseen    *SurveyMost  `json:"unseen,omitempty"`   // upper bound for a project that is not listed
	LookedFor int          `json:"documentsLookedFor"` // Yorkie documents looked up to find revisions of deleted ones

	MethodText message.Message `json:"-"` // how its rows were measured
	DeadLabel  string          `json:"-"` // name of the rows that nothing uses; "": none were looked for
}

// SurveyLine is what a project or a Yorkie document has of a collection.
type SurveyLine struct {
	Project  string        `json:"project,omitempty"`
	Name     string        `json:"name,omitempty"` // the project's
	Document string        `json:"document,omitempty"`
	Rows     SurveyFigure  `json:"rows"`
	Bytes    SurveyFigure  `json:"bytes"`
	Dead     *SurveyDead   `json:"dead,omitempty"` // part that nothing uses any more; absent: not examined
	Shards   []SurveyShard `json:"shards"`
}

// SurveyShard is a line's part on one shard.
type SurveyShard struct {
	Shard string       `json:"shard"` // "" if unknown
	Rows  SurveyFigure `json:"rows"`
	Bytes SurveyFigure `json:"bytes"`
}

// SurveyDead is deactivated clients, removed documents, or revisions of deleted documents.
type SurveyDead struct {
	Rows  SurveyFigure `json:"rows"`
	Bytes SurveyFigure `json:"bytes"`
}

// SurveyFigure is an exact count, or an estimate with its 95 % interval. Value null: none was seen,
// and there are at most High.
type SurveyFigure struct {
	Value   *int64 `json:"value"`
	Low     int64  `json:"low"`
	High    int64  `json:"high"`
	Exact   bool   `json:"exact"`
	AtLeast bool   `json:"atLeast,omitempty"` // a lower bound: counting ended before the last row
}

// SurveyMost is an upper bound with 95 % confidence.
type SurveyMost struct {
	Rows  int64 `json:"rows"`
	Bytes int64 `json:"bytes"`
}

// SurveyStart is the body of POST surveys.
type SurveyStart struct {
	Kind     string `json:"kind"`     // projects, project, document
	Project  string `json:"project"`  // of kind project; optional for document: id or name
	Document string `json:"document"` // of kind document: its id, of any type with another profile than Yorkie's
	DB       string `json:"db"`       // this database only
	NS       string `json:"ns"`       // this collection only
}
