package app

import (
	"math/big"
	"regexp"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/relay"
	"shardboard/internal/sanitize"
)

// Approval says which plans of a cluster need the approval of a second person.
type Approval struct {
	Rules actions.ApprovalRules
	Wait  time.Duration // how long such a plan can be run; 0: engine.ApprovalWait
}

func (a Approval) options() engine.ApprovalOptions {
	return engine.ApprovalOptions{Rules: a.Rules, Wait: a.Wait}
}

// accounts tell what has become of who approved a plan or asked for something.
type accounts interface {
	engine.Approvers
	relay.Accounts
}

// accountsOf are those of a cluster; among is its place among several.
func accountsOf(s *auth.Service, among *member) accounts {
	if among == nil {
		return s
	}
	return s.OnCluster(among.config.Name, func() auth.ClusterRoles { return *among.roles.Load() })
}

// checkSignIn refuses approval while everybody is one person.
func (a Approval) checkSignIn(mode string) error {
	if a.Rules.On() && auth.Mode(mode).Off() {
		return fault.New(fault.Invalid, "--approval-bytes, --approval-chunks and --approval-kinds need sign-in: without it everybody is one "+
			"person, and nobody could approve anything. Use --auth local, oidc or proxy, or leave them out.")
	}
	return nil
}

// ReadApproval reads the limits above which a plan needs the approval of a second person.
func ReadApproval(bytes string, chunks int, kinds []string, wait time.Duration) (a Approval, err error) {
	if a.Rules.Bytes, err = ReadApprovalBytes(bytes); err != nil {
		return a, err
	}
	if a.Rules.Chunks, err = ReadApprovalChunks(chunks); err != nil {
		return a, err
	}
	if a.Rules.Kinds, err = actions.ParseApprovalKinds(kinds); err != nil {
		return a, fault.Wrap(fault.Invalid, err, "--approval-kinds: %s", fault.Text(err))
	}
	a.Wait, err = ReadApprovalWait(wait)
	return a, err
}

var byteSize = regexp.MustCompile(`^([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$`)

// byteUnits are the units of sizes, in bytes.
var byteUnits = map[string]int64{"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}

// ReadApprovalBytes reads a size such as 10GB; "" is no limit.
func ReadApprovalBytes(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	m := byteSize.FindStringSubmatch(text)
	if m == nil {
		return 0, fault.New(fault.Invalid, "--approval-bytes is a number with a unit, such as 10GB or 500MiB, not %q.",
			sanitize.Line(sanitize.Truncate(text, 60)))
	}
	n, _ := new(big.Rat).SetString(m[1]) // digits, as the expression says
	n.Mul(n, new(big.Rat).SetInt64(byteUnits[m[2]]))
	bytes := new(big.Int).Quo(n.Num(), n.Denom())
	if !bytes.IsInt64() || bytes.Sign() <= 0 {
		return 0, fault.New(fault.Invalid, "--approval-bytes is at least 1B, not %q. Leave it out for no limit; to ask for approval of all "+
			"changes of a kind, use --approval-kinds.", text)
	}
	return bytes.Int64(), nil
}

// ReadApprovalChunks checks a number of chunks; 0 is no limit.
func ReadApprovalChunks(n int) (int64, error) {
	if n < 0 {
		return 0, fault.New(fault.Invalid, "--approval-chunks is a number of chunks, or 0 for no limit, not %d.", n)
	}
	return int64(n), nil
}

// ReadApprovalWait checks how long a plan that needs approval can be run; 0 is the default.
func ReadApprovalWait(wait time.Duration) (time.Duration, error) {
	if wait != 0 && (wait < engine.Expiry || wait > engine.MaxApprovalWait) {
		return 0, fault.New(fault.Invalid, "--approval-wait is a time from 15m to 24h, not %s.", wait)
	}
	return wait, nil
}
