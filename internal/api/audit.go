package api

import (
	"time"

	"shardboard/internal/message"
)

// AuditRecord is one entry of the audit chain. Details is null or an object; the difference matters
// to the hash.
type AuditRecord struct {
	Seq     int64             `json:"seq"`
	At      time.Time         `json:"at"`
	By      string            `json:"by"`
	Via     string            `json:"via"`
	From    string            `json:"from"`
	What    string            `json:"what"`
	Subject string            `json:"subject"`
	Outcome string            `json:"outcome"`
	Cluster string            `json:"cluster"`
	Details map[string]string `json:"details"`
	Prev    string            `json:"prev"` // hexadecimal
	Hash    string            `json:"hash"` // hexadecimal

	WhatText    string        `json:"-"` // What, Via and Outcome in words; a code of a newer server as it is
	ViaText     string        `json:"-"`
	OutcomeText string        `json:"-"` // "" of what succeeded
	ByName      string        `json:"-"` // present names of the accounts and tokens; "" if they have none
	SubjectName string        `json:"-"` // "" also if the subject is who did it
	ByIssuerID  string        `json:"-"` // tells people with the same name apart; "" if there is nothing to add
	DetailTexts []AuditDetail `json:"-"` // Details, sorted by name

	// Whole addresses, "" where there is no page for the reader.
	SubjectURL   string `json:"-"`
	ClusterURL   string `json:"-"`
	ClusterTitle string `json:"-"` // on a server of several clusters
}

// AuditDetail is one of a record's details. Both texts come from outside.
type AuditDetail struct {
	Name, Text string
	Whole      string // of a text that is too long for a table; "" if Text is all of it
	URL        string // of what it names; "" if that has no page for the reader
}

// Audit is a part of the audit record, and what is known of its chain. In JSON it is a list of
// Records, and AuditState.
type Audit struct {
	State   State  // why there are no records
	Level   string // of Verdict: ok, note or bad
	Verdict message.Message
	Notes   []State // what else to know of the chain
	Head    *AuditHead
	Records []AuditRecord   // newest first
	Older   int64           // older records follow below this number; 0 if there are none
	Partial message.Message // the search ended before it had found enough
}

// AuditHead is the signed end of the chain. Fingerprint is Key's.
type AuditHead struct {
	Seq         int64     `json:"seq"`
	Hash        string    `json:"hash"` // hexadecimal
	At          time.Time `json:"at"`
	Fingerprint string    `json:"fingerprint"`
	Key         string    `json:"key"`       // ed25519 public key, base64
	Signature   string    `json:"signature"` // base64
}

// AuditLine is one line of an exported record, with exactly one of its fields.
type AuditLine struct {
	Record *AuditRecord `json:"record,omitempty"`
	Head   *AuditHead   `json:"head,omitempty"`
}

// AuditState is the verification state of the server's audit record. Null means unknown: nothing
// signed, nothing verified yet, or no problem.
type AuditState struct {
	Head     *AuditHead     `json:"head"`
	Verified *AuditVerified `json:"verified"`
	Problem  *AuditProblem  `json:"problem"`
	Key      *string        `json:"key"`      // fingerprint of the key in use; null if nothing is signed
	OtherKey *string        `json:"otherKey"` // fingerprint of the key of the newest head, if it is another key
}

// AuditVerified is up to which record the chain was verified, and since when every record was read
// again.
type AuditVerified struct {
	Seq   int64      `json:"seq"`
	At    time.Time  `json:"at"`
	Whole *time.Time `json:"whole"`
}

// AuditProblem is the first inconsistency in the chain, or why it cannot be verified: damaged (a
// table or the file is missing), and after two consecutive checks unread, unsigned or witness (the
// file beside the key). Seq is null if it concerns no single record.
type AuditProblem struct {
	Code string `json:"code"` // misplaced, unlinked, changed, cut, rebuilt, foreign, forged, headLost, damaged, unread, unsigned, witness
	Seq  *int64 `json:"seq"`
	Text string `json:"text"`
}
