package api

import "time"

// AuditRecord is one thing that happened, in its place in the chain. Details is
// null or an object, and which of them matters to the hash.
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

// AuditHead is the end of the chain as it was signed. Fingerprint is Key's.
type AuditHead struct {
	Seq         int64     `json:"seq"`
	Hash        string    `json:"hash"` // hexadecimal
	At          time.Time `json:"at"`
	Fingerprint string    `json:"fingerprint"`
	Key         string    `json:"key"`       // ed25519 public key, base64
	Signature   string    `json:"signature"` // base64
}

// AuditLine is one line of an exported record: exactly one of its fields is
// there.
type AuditLine struct {
	Record *AuditRecord `json:"record,omitempty"`
	Head   *AuditHead   `json:"head,omitempty"`
}

// AuditState is what the server knows of its own record. Null is "not known":
// nothing was signed, nothing was verified yet, nothing is wrong.
type AuditState struct {
	Head     *AuditHead     `json:"head"`
	Verified *AuditVerified `json:"verified"`
	Problem  *AuditProblem  `json:"problem"`
	Key      *string        `json:"key"`      // fingerprint of the key in use; null where nothing is signed
	OtherKey *string        `json:"otherKey"` // fingerprint of the key that signed the newest head before, if another
}

// AuditVerified says up to where the chain was read and found in order, and since
// when every record of it was read again.
type AuditVerified struct {
	Seq   int64      `json:"seq"`
	At    time.Time  `json:"at"`
	Whole *time.Time `json:"whole"`
}

// AuditProblem is the first thing that is wrong with the chain, or why it cannot
// be checked: damaged (a table or the file is missing), and of two checks in a row
// unread, unsigned or witness (the file beside the key). Seq is null where it is
// about no single record.
type AuditProblem struct {
	Code string `json:"code"` // misplaced, unlinked, changed, cut, rebuilt, foreign, forged, headLost, damaged, unread, unsigned, witness
	Seq  *int64 `json:"seq"`
	Text string `json:"text"`
}
