package api

import "time"

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
