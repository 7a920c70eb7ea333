package operation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// operation is a row of the table of operations: all that the program knows of one operation. Everything else asks the
// row; nothing else decides by the name of an operation. A column that is empty has the meaning of its comment.
type operation struct {
	op Op
	// command is what is sent to a server of a release: the same is shown, recorded and sent. nil: nothing is sent.
	command func(Step, balance.Release) (Command, error)
	does    string                        // infinitive, for refusals: "split the chunk"
	grants  func(balance.Release) []Grant // what the command needs
	feature string                        // of the doctor; "": it is part of another one
	since   balance.Release               // of the feature; zero: every supported release
	// reads checks the reply of a command for which "ok" is not enough.
	reads func(Step, Command, bson.Raw) error
	limit time.Duration     // of the command; 0: commandTimeout
	locks func(Step) []Lock // nil: its keys
	Effects
	// unbounded is set where the balancer alone measures what it then moves.
	unbounded bool
	// steers applies to the balancer, or to the collection of the step, what the balancer will do differently.
	steers  func(Step, *topology.Balancer, *topology.Collection)
	setting string                           // of the collection, by its name in the rules; "": none
	sets    func(Step) (field, value string) // field of FactCollection that proves the step
	inverse Op                               // whose command takes it back; "": its own, or none
	final   func(Step) bool                  // no command takes it back; nil: one does
	title   func(Step) string                // pattern of a sentence
	several func(Step) string                // of a sentence about {n} such steps; nil: the title, {n} times
	counts  func(*LastingChanges) *int       // nil: a setting
	running []string                         // names of its command as mongos, config server and shards show it
}

// Effects says what an operation does to the cluster.
type Effects struct {
	Splits, Merges bool // chunks
	Refines        bool // the shard key
	MovesRange     bool // data of a range from shard to shard
	MovesWhole     bool // whole collections
	// InBackground: the cluster works on the command on its own. Losing the connection or a time limit does not end it.
	InBackground bool
	// EndsAnother: it ends an operation that another run waits for, and has to run although that run holds the collection.
	EndsAnother bool
	Aborts      bool // it ends a running operation without effect
	Drains      bool // a shard: everything leaves it
	// ChangesDraining: it begins or ends the draining of a shard, or removes the shard. Such a step is never tried a
	// second time, and two runs never send one for the same shard at the same time: a second removeShard can remove it.
	ChangesDraining  bool
	ChangesZones     bool // which shards are in a zone, or which ranges
	ChangesZoneRange bool // sets or removes a zone range
	FillsZone        bool // adds a shard or a range to a zone
	SetsCollection   bool // a setting that decides what the balancer does with its chunks
	LeavesChunks     bool // changes no chunk of its collection
	LeavesPlacement  bool // neither moves data nor changes what the balancer moves
	Lingers          bool // the server may still work on it after the time limit
	EndsByItself     bool // its effect may be over before it is read
}

// Effects says what the step does to the cluster.
func (s Step) Effects() Effects { return s.row().Effects }

// LastingChanges counts what a run changed in the cluster and did not revert,
// according to what was read from the cluster after each step. It does not count
// changes that the balancer or somebody else made instead of the run.
type LastingChanges struct {
	Splits        int
	Merges        int
	Moves         int // chunks
	WholeMoves    int // databases and collections
	RangesSet     int // zone ranges
	RangesRemoved int
	ZonesJoined   int // shards added to a zone
	ZonesLeft     int
	DrainsBegun   int
	DrainsEnded   int
	ShardsRemoved int // from the cluster
	Settings      int // of the balancer and of collections; jumbo flags
	ByOthers      int // steps whose change somebody else had already made
	Unknown       int // commands whose outcome is not known yet
	Paused        bool
}

// Count counts the change of a step.
func (l *LastingChanges) Count(s Step) {
	n := &l.Settings
	if counts := s.row().counts; counts != nil {
		n = counts(l)
	}
	*n++
}

// Grant is what a command needs on one resource.
type Grant struct {
	Actions []string
	On      string // such as "config.tags", or OnCluster; "": the collection or database that the step names
}

// OnCluster is the resource of a privilege on the cluster.
const OnCluster = "the cluster"

// text is the grant as a refusal names it.
func (g Grant) text(s Step) string {
	on := g.On
	if on == "" {
		on = string(s.NS) + s.DB // a step has one of them
	}
	last := len(g.Actions) - 1
	out := g.Actions[last]
	if last > 0 {
		out = strings.Join(g.Actions[:last], ", ") + " and " + out
	}
	return out + " on " + on
}

// Lock is one thing that a step needs for itself.
type Lock struct {
	NS    topology.Namespace // "": of something else, which has a name
	Thing string             // a setting of NS, or the name; "": the whole collection
	Keys  bool               // of NS, only the keys that the step changes
}

// Attempt is what a command is to do, in the words of a refusal.
type Attempt struct {
	To        string // infinitive: "split the chunk"
	Privilege string // that it needs: "splitChunk on db.coll"
}

// Admin changes a cluster.
type Admin interface {
	// Run sends a command once and returns the reply. Nothing is retried, not by the driver either. The context's
	// deadline goes to the server as maxTimeMS; a running migration does not stop at it. run is sent as the command's
	// comment, which shows in the server's logs and in $currentOp; no comment when it is empty.
	//
	// Errors are classified with fault. Nothing has changed when the kind is Invalid (the server will never accept
	// this), NotFound (no such shard, zone, chunk, sharded collection or command in this release), Conflict (the cluster
	// is not in the state that the command needs, perhaps only for now), Forbidden (a *topology.DeniedError says what to
	// grant) or Unavailable (the command was not sent). After UnknownOutcome only reading the cluster shows whether it
	// took effect. Safe for concurrent use.
	Run(ctx context.Context, run string, c Command, a Attempt) (bson.Raw, error)
}

// row is the row of the operation; of an operation of a newer release, an empty one.
func (o Op) row() *operation {
	if row := operations[o]; row != nil {
		return row
	}
	return &operation{op: o}
}

func (s Step) row() *operation { return s.Op.row() }

// Operations are the operations that send a command, in the order of the table.
func Operations() (out []Op) {
	for _, row := range table() {
		if row.command != nil {
			out = append(out, row.op)
		}
	}
	return out
}

// Command is the command of the step for a server of this release, which is known. It is empty for a step that sends
// nothing.
func (s Step) Command(r balance.Release) (Command, error) {
	command := s.row().command
	switch {
	case !s.Sends():
		return Command{}, nil
	case command == nil:
		return Command{}, fmt.Errorf("command of a step: %q is not a command", s.Op)
	}
	return command(s, r)
}

// Send sends the command of a step, as it was planned, and reads the reply. Without a deadline, the context gets that
// of the operation.
func (s Step) Send(ctx context.Context, a Admin, run string, c Command) error {
	if len(c.Doc) == 0 {
		return fmt.Errorf("send step: %q has no command", s.Op)
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.TimeLimit())
		defer cancel()
	}
	reply, err := a.Run(ctx, run, c, s.attempt(c))
	if reads := s.row().reads; err == nil && reads != nil {
		err = reads(s, c, reply)
	}
	return err
}

// Grants are what the command of an operation needs on a release.
func (o Op) Grants(r balance.Release) []Grant { return o.row().grants(r) }

// attempt is what the command does, for refusals. A command that is an update was rendered for a release without a
// command for it, so it needs what the earliest release does.
func (s Step) attempt(c Command) Attempt {
	row := s.row()
	r := latest
	if c.DB == configDB {
		r = balance.Release{}
	}
	var out []string
	sep := " and "
	for _, g := range row.grants(r) {
		if out = append(out, g.text(s)); len(g.Actions) > 1 {
			sep = ", and "
		}
	}
	return Attempt{To: row.does, Privilege: strings.Join(out, sep)}
}

// Time limits of commands. There is no useful limit for a command that copies data,
// because the server continues with it in any case.
const (
	commandTimeout     = 30 * time.Second
	balancerOffTimeout = 10 * time.Minute    // switching it off waits for the end of its round
	refineTimeout      = 45 * time.Second    // rewrites all chunks in one transaction, which the server ends after a minute
	reshardTimeout     = 20 * 24 * time.Hour // the operation continues after it; maxTimeMS ends at 24 days

	// MigrationTimeout is the longest time limit of a migration.
	MigrationTimeout = 12 * time.Hour
)

// TimeLimit is the time limit of the step's command; of a migration, the longest.
func (s Step) TimeLimit() time.Duration {
	if limit := s.row().limit; limit > 0 {
		return limit
	}
	return commandTimeout
}

// Locks are what the step needs for itself from right before it is sent until its outcome is known.
//
// The commands that commit or abort a resharding are an exception: the run that reshards has the collection until
// they have had their effect. They change nothing but the operation that this run waits for, and their
// preconditions name it. So they claim something of their own, which one run at a time has.
func (s Step) Locks() []Lock {
	locks := s.row().locks
	switch {
	case !s.Sends():
		return nil
	case locks == nil:
		return []Lock{{NS: s.NS, Keys: true}}
	}
	return locks(s)
}

// Sends reports whether the step sends a command.
func (s Step) Sends() bool { return s.Op != OpAwait && s.Op != OpItem }

// Awaits reports whether the step only waits for the cluster.
func (s Step) Awaits() bool { return s.Op == OpAwait }

// AwaitsDrain reports whether the step waits until a shard is empty.
func (s Step) AwaitsDrain() bool {
	return s.Awaits() && len(s.Proof) == 1 && s.Proof[0].Kind == FactRemains
}

// Migrates reports whether the step moves data between shards. A shard takes part in
// one migration at a time, and a time limit does not stop a migration.
func (s Step) Migrates() bool { return s.row().MovesRange }

// Moves is how many steps are migrations.
func Moves(steps []Step) (n int) {
	for _, s := range steps {
		if s.Migrates() {
			n++
		}
	}
	return n
}

// MovesWhole reports whether the step moves whole collections, not chunks.
func (s Step) MovesWhole() bool { return s.row().MovesWhole }

// IsBuiltOnResharding reports whether the server moves the collection by resharding it.
func (s Step) IsBuiltOnResharding() bool { return s.MovesWhole() && s.row().InBackground }

// Copies reports whether the step copies data between shards: its command may run for
// hours, and a time limit does not stop it.
func (s Step) Copies() bool { return s.Migrates() || s.MovesWhole() || s.row().InBackground }

// Lingers reports whether the server may still work on the command after its time limit.
func (s Step) Lingers() bool { return s.Copies() || s.row().Lingers }

// SettingValue is the field of FactCollection that a step sets, and its value once the step has had its effect. Only
// for steps that change a setting of a collection.
func (s Step) SettingValue() (field, value string) { return s.row().sets(s) }

// Steers reports whether the step changes what the balancer will do.
func (s Step) Steers() bool { return s.row().steers != nil }

// Steer applies to the balancer, and to the collection of a step that has one, what the balancer will do differently.
func (s Step) Steer(b *topology.Balancer, c *topology.Collection) { s.row().steers(s, b, c) }

// Unbounded reports whether the balancer alone measures what it moves once the step has had its effect.
func (s Step) Unbounded() bool { return s.row().unbounded && s.On }

// Inverse is the operation whose command takes the step back; "" if it is its own, or there is none.
func (s Step) Inverse() Op { return s.row().inverse }

// Setting is the setting of the collection that the step sets, as the rules name it; "" for none.
func (s Step) Setting() string { return s.row().setting }

// EndsByItself reports whether what the step starts may be over before its effect is read.
func (s Step) EndsByItself() bool { return s.row().EndsByItself && s.On }

// AffectsPlacement reports whether a step moves data or changes what the balancer moves. An operation does, unless its
// row says otherwise.
func (s Step) AffectsPlacement() bool { return !s.row().LeavesPlacement }

// Running are the names of the command of a step that moves whole collections in the lists of running
// operations: of the mongos, the config server and the shards. Those of releases after 5.0 are assumed.
func (s Step) Running() []string { return s.row().running }

// TakesBack reports whether the step's command takes back what another one does, or is the same with another value.
func (s Step) TakesBack(o Step) bool { return s.Op == o.Op || s.row().inverse == o.Op }

// Invertible reports whether a command can undo the step. No command sets a jumbo flag or
// shortens a shard key, a balancing window that was not known before cannot be restored,
// and shardboard does not shard collections. Only since 8.3 can draining be ended, and a
// removed shard does not come back.
func (s Step) Invertible() bool {
	final := s.row().final
	return final == nil || !final(s)
}

// Text describes the step in one line.
func (s Step) Text() message.Message {
	if s.Item != nil {
		return s.Item.Summary
	}
	ns := s.NS
	if ns == "" && len(s.Proof) > 0 {
		ns = s.Proof[0].NS // an await has no collection of its own
	}
	out := message.New("op."+string(s.Op), s.title(), message.Namespace("ns", ns), message.Key("at", shardkey.PlainValues(s.At)),
		message.Key("min", shardkey.PlainValues(s.Min)), message.Key("max", shardkey.PlainValues(s.Max)), message.Shard("shard", s.Shard),
		message.Zone("zone", s.Zone), message.Text("start", s.Start), message.Text("stop", s.Stop), message.Text("days", s.Days),
		message.Text("db", s.DB), message.Text("key", s.newKey()), message.Bytes("size", int64(s.Size)<<20))
	if len(s.Others) > 0 {
		out = out.With(message.Text("others", Joined(s.Others)))
		out.Code, out.Pattern = out.Code+".or", out.Pattern+", or, if that is blocked, to {others}"
	}
	return out
}

func (s Step) title() string {
	if title := s.row().title; title != nil {
		return title(s)
	}
	return string(s.Op)
}

// Several is the pattern of a sentence about {n} steps like this one, in the collections {in}.
func (s Step) Several() string {
	if several := s.row().several; several != nil {
		return several(s)
	}
	return s.Text().Pattern + ", {n} times"
}

// latest is newer than any release.
var latest = balance.Release{99}

// Feature is what the doctor says of the privileges of operations.
type Feature struct {
	Code   string
	Since  balance.Release
	PerDB  bool // about one database, whatever release: it needs, or will need, a privilege on it
	Grants []Grant
}

// Features are the features of the operations and what their commands need on a release, in the order of the table.
// Several operations may be one feature.
func Features(r balance.Release) (out []Feature) {
	for _, row := range table() {
		if row.feature == "" {
			continue
		}
		i := slices.IndexFunc(out, func(f Feature) bool { return f.Code == row.feature })
		if i < 0 {
			i, out = len(out), append(out, Feature{Code: row.feature, Since: row.since})
			out[i].PerDB = slices.ContainsFunc(row.grants(latest), func(g Grant) bool { return g.On == "" })
		}
		for _, g := range row.grants(r) {
			out[i].add(g)
		}
	}
	return out
}

// add adds what is not granted yet.
func (f *Feature) add(g Grant) {
	i := slices.IndexFunc(f.Grants, func(have Grant) bool { return have.On == g.On })
	if i < 0 {
		f.Grants = append(f.Grants, Grant{On: g.On})
		i = len(f.Grants) - 1
	}
	for _, a := range g.Actions {
		if !slices.Contains(f.Grants[i].Actions, a) {
			f.Grants[i].Actions = append(f.Grants[i].Actions, a)
		}
	}
}
