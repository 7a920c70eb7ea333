package app

import (
	"os"
	"path/filepath"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// AuditWitness is the file beside a server's audit key that has the newest signed head. The zero
// value is no file.
type AuditWitness struct {
	File     string
	Optional bool // a missing file is not an error
}

// FindWitness finds the witness file: file if given, else the one beside key. With a data directory
// it is that directory's file, beside the key that the server would use by default, and it may be
// missing. Without a data directory the key must have exactly one witness file.
func FindWitness(file, key, dataDir string) (AuditWitness, error) {
	switch {
	case file != "" && key != "":
		return AuditWitness{}, fault.New(fault.Invalid, "Give either --witness or --audit-key, not both: each names the witness file.")
	case file != "":
		return AuditWitness{File: file}, nil
	case dataDir != "":
		return witnessOfData(key, dataDir)
	case key == "":
		return AuditWitness{}, nil
	}
	if err := keyExists(key); err != nil {
		return AuditWitness{}, err
	}
	found, err := audit.WitnessesOf(key)
	switch {
	case err != nil:
		return AuditWitness{}, fault.Wrap(
			fault.Invalid,
			err,
			"The directory of the audit key %s cannot be read, so its witness file cannot be found. Give --witness FILE.",
			key,
		)
	case len(found) == 0:
		return AuditWitness{}, fault.New(
			fault.Invalid,
			"There is no witness file beside the audit key %s: no server has signed with this key yet, or the file was removed. Leave out "+
				"--audit-key to verify without it.",
			key,
		)
	case len(found) > 1:
		return AuditWitness{}, fault.New(
			fault.Invalid,
			"There are %d witness files beside the audit key %s, one for each data directory. Say which one with --witness FILE.",
			len(found),
			key,
		)
	}
	return AuditWitness{File: string(found[0])}, nil
}

func witnessOfData(key, dataDir string) (AuditWitness, error) {
	if key != "" {
		if err := keyExists(key); err != nil {
			return AuditWitness{}, err
		}
	} else if key = os.Getenv("SHARDBOARD_AUDIT_KEY"); key == "" {
		var err error
		if key, err = DefaultAuditKey(); err != nil {
			return AuditWitness{}, nil // no home directory, so a server has no default key either
		}
	}
	key, err := filepath.Abs(key)
	if err != nil {
		return AuditWitness{}, fault.Wrap(fault.Invalid, err, "The path of the audit key cannot be resolved.")
	}
	w, err := audit.WitnessOf(key, dataDir)
	if err != nil {
		return AuditWitness{}, fault.Wrap(fault.Invalid, err, "The data directory %s cannot be resolved.", dataDir)
	}
	return AuditWitness{File: string(w), Optional: true}, nil
}

func keyExists(key string) error {
	_, err := os.Stat(key)
	return fault.Wrap(fault.Invalid, err, "There is no audit key at %s, or it cannot be reached. Give --audit-key as the server has it.", key)
}

func (w AuditWitness) head() (*store.AuditHead, error) {
	h, err := audit.Witness(w.File).Head()
	if err == nil && h == nil && w.File != "" && !w.Optional {
		return nil, fault.New(fault.Invalid, "There is no witness file %s.", w.File)
	}
	return h, err
}

// finding is the error for a break, with the file's name when the break concerns the witness.
func (w AuditWitness) finding(b audit.Break) error {
	switch {
	case !b.Witness:
		return fault.New(fault.Internal, "The audit record was changed: %s.", b.Error())
	case b.Code == audit.Forged:
		return fault.New(
			fault.Internal,
			"The witness file %s was changed: %s. It shows nothing about the record; ask who wrote it, and compare with a head that was kept "+
				"elsewhere (--head).",
			w.File,
			b.Error(),
		)
	case b.Code == audit.OtherKey:
		return fault.New(fault.Internal, "The witness file %s cannot be trusted: %s.", w.File, b.Error())
	}
	return fault.New(
		fault.Internal,
		"The audit record was changed: %s. The witness file is %s. If an older copy of the data was put back on purpose, this is expected.",
		b.Error(),
		w.File,
	)
}
