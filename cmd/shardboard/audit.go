package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"shardboard/internal/app"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" help:"Verify the chain of the audit record. Exits with 1 if it was changed, with 2 if a given file cannot be used."`
	Export auditExportCmd `cmd:"" help:"Write the audit record with its signed heads as JSON lines."`
}

// auditFlags say where to read the record.
type auditFlags struct {
	remoteFlags `embed:""`
	DataDir     string `name:"data-dir" type:"path" placeholder:"DIR" help:"Read this data directory directly instead of through a server. A server may be running on it."`
	StoreFile   string `name:"store-file" type:"path" placeholder:"FILE" help:"Read the store on MongoDB whose address this file holds. Servers may be running on it."`
}

func (f auditFlags) from() (app.AuditSource, error) {
	if f.DataDir != "" {
		return app.AuditSource{DataDir: f.DataDir}, nil
	}
	if f.StoreFile != "" {
		at, err := app.ReadStore("", f.StoreFile)
		return app.AuditSource{Store: at}, err
	}
	remote, err := f.remote()
	return app.AuditSource{Server: remote}, err
}

type auditVerifyCmd struct {
	auditFlags `embed:""`
	File       string `placeholder:"FILE" help:"Verify an exported record instead; - is the standard input."`
	Head       string `placeholder:"FILE" help:"A head that was exported or logged earlier and must still be in the record; - is the standard input."`
	Key        string `placeholder:"FINGERPRINT" help:"Every signed head must be signed by the key with this fingerprint (SHA256:…)."`
	Witness    string `type:"path" placeholder:"FILE" help:"Witness file that the server keeps beside its audit key (audit.key.….head); its head must still be in the record."`
	AuditKey   string `name:"audit-key" type:"path" placeholder:"FILE" help:"Audit key of the server, to find the witness file beside it. With --data-dir the default is the server's own (SHARDBOARD_AUDIT_KEY, else in the configuration directory of the user who runs this). The key itself is not read."`
}

func (c auditVerifyCmd) Run(e *env) error {
	if c.File != "" && c.DataDir != "" || c.StoreFile != "" && c.File+c.DataDir != "" {
		return fault.New(fault.Invalid, "Verify only one of --file, --data-dir and --store-file.")
	}
	if c.File == "-" && c.Head == "-" {
		return fault.New(fault.Invalid, "Only one of --file and --head can be the standard input.")
	}
	var from app.AuditSource
	var kept io.Reader
	if c.Head != "" {
		f, err := openInput(c.Head)
		if err != nil {
			return err
		}
		defer f.Close()
		kept = f
	}
	if c.File != "" {
		f, err := openInput(c.File)
		if err != nil {
			return err
		}
		defer f.Close()
		from.File = f
	} else {
		var err error
		if from, err = c.from(); err != nil {
			return err
		}
	}
	var err error
	if from.Witness, err = app.FindWitness(c.Witness, c.AuditKey, c.DataDir); err != nil {
		return err
	}
	v, err := app.VerifyAudit(e.ctx, from, kept, c.Key)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.stdout, sanitize.Line(auditVerdict(v)+witnessVerdict(v, from.Witness)))
	return err
}

// auditVerdict says what was verified and what was not.
func auditVerdict(v app.AuditVerdict) string {
	if v.Records == 0 {
		return "The audit record is empty."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The audit record is in order. Records: %d; the last has the hash %s.", v.Records, v.Hash)
	switch {
	case v.Noted == 1:
		b.WriteString(" The head that was given is in it.")
	case v.Noted > 1:
		fmt.Fprintf(&b, " The %d heads that were given are in it.", v.Noted)
	}
	switch {
	case v.Head == nil:
		b.WriteString(" No signed head was compared, so this does not show whether the whole record was rewritten.")
	case v.Head.Seq == v.Records:
		fmt.Fprintf(&b, " Its end was signed at %s by %s.", v.Head.At.Format(timeForm), v.Head.Fingerprint)
	default:
		fmt.Fprintf(
			&b,
			" Record %d was signed as its end at %s by %s. Records after it, which are not signed: %d.",
			v.Head.Seq,
			v.Head.At.Format(timeForm),
			v.Head.Fingerprint,
			v.Records-v.Head.Seq,
		)
	}
	return b.String()
}

// witnessVerdict says which witness file was compared, or what the result does not show without
// one.
func witnessVerdict(v app.AuditVerdict, w app.AuditWitness) string {
	switch {
	case v.Witness != nil:
		return fmt.Sprintf(
			" The witness file %s agrees: its head of record %d, signed at %s by %s, is in the record.",
			w.File,
			v.Witness.Seq,
			v.Witness.At.Format(timeForm),
			v.Witness.Fingerprint,
		)
	case w.File != "":
		return fmt.Sprintf(
			" No witness file was found at %s, so this does not show whether the record was cut or replaced together with its heads. Give "+
				"--audit-key as the server has it, or --witness.",
			w.File,
		)
	}
	return " No witness file was compared (--witness), so this does not show whether the record was cut or replaced together with its heads."
}

const timeForm = "2006-01-02 15:04:05 UTC"

type auditExportCmd struct {
	auditFlags `embed:""`
}

func (c auditExportCmd) Run(e *env) error {
	from, err := c.from()
	if err != nil {
		return err
	}
	return app.ExportAudit(e.ctx, from, e.stdout)
}

func openInput(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(os.Stdin), nil
	}
	f, err := os.Open(name)
	return f, fault.Wrap(fault.Invalid, err, "%s cannot be read.", name)
}
