package audit

import (
	"shardboard/internal/api"
	"shardboard/web/templates"
)

// Audit is a part of the audit record.
type Audit struct {
	State    api.State
	Level    string           // of Verdict: "ok", "note", "bad"
	Verdict  string           // what is known of the chain
	Head     []templates.Fact // the newest signed head
	Notes    []api.State
	By, What string
	Subject  string
	From, To string
	Kinds    []templates.Option
	Filtered bool
	Rows     []AuditRow
	Older    string // address of what is before the last row; "" when there is nothing
	Newer    bool   // the page does not begin at the end of the record
	Bounded  string // the search ended before there were enough
}

// AuditRow is one record.
type AuditRow struct {
	Seq         string
	When        templates.Moment
	Stamp       string // the full time: in a record the second counts
	Who         string // hostile text: a name where one is known, else the id
	WhoID       string
	IssuersID   string // as SessionRow.WhoID
	Via         string
	WhoURL      string // this person's records
	Text        string
	Code        string
	Subject     templates.Key
	SubjectName string // of the account or token that it is; "" for others
	Outcome     string
	Bad         bool
	From        string
	Details     []AuditDetail
	Hash        templates.Key
}

// AuditDetail is one of a record's details; both are hostile text.
type AuditDetail struct {
	Name, Text string
	Whole      string // of a text that is too long for the row; "" = Text is whole
}
