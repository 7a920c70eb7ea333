package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// AuditVerdict is what VerifyAudit verified.
type AuditVerdict struct {
	Records int64
	Hash    string         // hash of the last record in hexadecimal; "" without records
	Head    *api.AuditHead // newest signed head that matches the record; nil: none was compared
	Noted   int            // number of heads given by the caller; all match the record
	Witness *api.AuditHead // head of the witness file, which matches the record; nil: none was read
}

// VerifyAudit reads a whole record and compares it with its own heads, the witness file and the
// heads that the caller kept (nil: none). key is the fingerprint that must have signed every head;
// "" accepts any. A changed record is an error with a sentence.
func VerifyAudit(ctx context.Context, from AuditSource, kept io.Reader, key string) (v AuditVerdict, err error) {
	x := audit.Expect{Key: key}
	if kept != nil {
		if x.Heads, x.Known, err = readHeads(kept); err != nil {
			return v, err
		}
		if key != "" && len(x.Known) > 0 {
			return v, fault.New(
				fault.Invalid,
				"The head that was given has no signature, so it cannot be held against a key. Leave out --key, or give a signed head.",
			)
		}
	}
	v.Noted = len(x.Heads) + len(x.Known)
	// The witness is read before the record: a running server writes both, and a witness read later
	// could be newer than the records.
	if x.Witness, err = from.Witness.head(); err != nil {
		return v, err
	}
	r, err := from.open(ctx)
	if err != nil {
		return v, damageIsAFinding(err)
	}
	defer func() { err = errors.Join(err, r.close()) }()
	theirs, err := r.heads(ctx, false)
	if err != nil {
		return v, damageIsAFinding(err)
	}
	x.Heads = append(x.Heads, theirs...)
	rep, err := audit.Verify(r.records(ctx), x)
	if err != nil {
		return v, damageIsAFinding(err)
	}
	if rep.Break != nil {
		return v, from.Witness.finding(*rep.Break)
	}
	v.Records = rep.End.Seq
	if rep.End.Seq > 0 {
		v.Hash = hex.EncodeToString(rep.End.Hash)
	}
	if rep.Head != nil {
		h := auditing.AuditHead(*rep.Head)
		v.Head = &h
	}
	if x.Witness != nil {
		h := auditing.AuditHead(*x.Witness)
		v.Witness = &h
	}
	return v, nil
}

// damageIsAFinding reports a missing table as a result of the verification, like a changed record,
// and not as a temporary failure.
func damageIsAFinding(err error) error {
	if !errors.Is(err, store.ErrAuditDamaged) {
		return err
	}
	return fault.Wrap(fault.Internal, err, "The audit record is damaged. %s", fault.Text(err))
}

// readHeads parses heads as exported, as returned by the API, or as logged. The record must contain
// all of them.
func readHeads(in io.Reader) (heads []store.AuditHead, notes []audit.Point, err error) {
	text, err := io.ReadAll(io.LimitReader(in, 16<<20))
	if err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, err, "The head cannot be read.")
	}
	var found []api.AuditHead
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		found, err = headsOfJSON(text)
	} else {
		found, err = headsOfLog(text)
	}
	if err == nil && len(found) == 0 {
		err = errors.New("none found")
	}
	for _, w := range found {
		h, herr := headOf(w)
		switch {
		case herr != nil || h.Seq < 1 || len(h.Hash) != 32:
			err = errors.Join(err, fmt.Errorf("head %d", w.Seq), herr)
		case w.Key == "" && w.Signature == "":
			notes = append(notes, audit.Point{Seq: h.Seq, Hash: h.Hash})
		default:
			heads = append(heads, h)
		}
	}
	return heads, notes, fault.Wrap(
		fault.Invalid,
		err,
		"This is not a head of an audit record: give what GET /api/v1/audit/head answered, a line of an export, or the line of the log "+
			"that says “audit head”.",
	)
}

func headsOfJSON(text []byte) (out []api.AuditHead, err error) {
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var o struct {
			api.AuditHead
			Head *api.AuditHead `json:"head"`
		}
		if err := dec.Decode(&o); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case o.Head != nil:
			out = append(out, *o.Head)
		case o.Hash != "":
			out = append(out, o.AuditHead)
		}
	}
}

func headsOfLog(text []byte) (out []api.AuditHead, err error) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		pairs := map[string]string{}
		for field := range strings.FieldsSeq(lines.Text()) {
			if name, value, ok := strings.Cut(field, "="); ok {
				if un, err := strconv.Unquote(value); err == nil { // the log quotes values with "="
					value = un
				}
				pairs[name] = value
			}
		}
		if pairs["hash"] == "" {
			continue
		}
		h := api.AuditHead{Hash: pairs["hash"], Key: pairs["key"], Signature: pairs["signature"]}
		if h.Seq, err = strconv.ParseInt(pairs["seq"], 10, 64); err != nil {
			return nil, err
		}
		if at := pairs["at"]; at != "" {
			if h.At, err = time.Parse(time.RFC3339, at); err != nil {
				return nil, err
			}
		}
		out = append(out, h)
	}
	return out, nil
}

func headOf(w api.AuditHead) (h store.AuditHead, err error) {
	h = store.AuditHead{Seq: w.Seq, At: w.At.UTC()}
	var errs [3]error
	h.Hash, errs[0] = hex.DecodeString(w.Hash)
	h.Key, errs[1] = base64.StdEncoding.DecodeString(w.Key)
	h.Signature, errs[2] = base64.StdEncoding.DecodeString(w.Signature)
	return h, errors.Join(errs[:]...)
}

func recordOf(w api.AuditRecord) (r store.AuditRecord, err error) {
	if w.What == audit.Withheld {
		return r, fault.New(fault.Forbidden, "Record %d is about a cluster of which you may not read. "+
			"Only an admin of the server can read the whole record.", w.Seq)
	}
	r = store.AuditRecord{Seq: w.Seq, AuditEntry: store.AuditEntry{Cluster: w.Cluster, At: w.At.UTC(), By: w.By, Via: w.Via,
		From: w.From, What: w.What, Subject: w.Subject, Outcome: w.Outcome, Details: w.Details}}
	var errs [2]error
	r.Prev, errs[0] = hex.DecodeString(w.Prev)
	r.Hash, errs[1] = hex.DecodeString(w.Hash)
	return r, errors.Join(errs[:]...)
}
