package simcluster

import (
	"context"
	"errors"
	"runtime/debug"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/access"
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// command is one entry of the command table.
type command struct {
	run       engine.Handler
	adminOnly bool // only on the admin database
	stable    bool // part of Stable API version 1
	retryable bool // a write whose reply is kept for a retry
	writes    bool // not possible on local
}

// onCollection reads the collection that a command names in its first field before it runs.
func onCollection(run func(ctx context.Context, r *engine.Request, db, coll string) (bson.D, error)) engine.Handler {
	return func(ctx context.Context, r *engine.Request) (bson.D, error) {
		db, coll, err := namespace(r)
		if err != nil {
			return nil, err
		}
		return run(ctx, r, db, coll)
	}
}

// answer runs a command and completes its reply; nil means that the connection is to be
// closed instead. A panic in a handler becomes an error of that command; deferred
// unlocks release its locks.
func (c *Cluster) answer(ctx context.Context, r *engine.Request) (reply bson.Raw) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("command failed", "command", r.Name, "panic", p, "stack", string(debug.Stack()))
			reply = c.failure(status.Errorf(status.InternalError, "%s failed: %v", r.Name, p))
		}
	}()
	fields, err := c.run(ctx, r)
	if errors.Is(err, errCut) {
		return nil
	}
	if err != nil {
		return c.failure(err)
	}
	return c.withClusterTime(append(fields, bson.E{Key: "ok", Value: 1.0}))
}

// run checks what all commands have in common and calls the handler.
func (c *Cluster) run(ctx context.Context, r *engine.Request) (bson.D, error) {
	r.Name = commandName(r.Body)
	c.stats.count(r.Name)
	c.faults.recordCommand(r)
	cmd, known := c.commands[r.Command()]
	if !known {
		return nil, status.Errorf(status.CommandNotFound, "no such cmd: %s", r.Name)
	}
	if cmd.adminOnly && r.DB != "admin" {
		return nil, status.Errorf(status.Unauthorized, "%s may only be run against the admin database.", r.Command())
	}
	guard := c.guardOf(r)
	if guard != nil {
		if err := c.checkPermission(guard, r); err != nil {
			return nil, err
		}
	}
	if cmd.writes && r.DB == "local" {
		return nil, status.Errorf(status.IllegalOperation, "Can't write to the local database through mongos")
	}
	common, err := parseCommon(r.Body)
	if err != nil {
		return nil, err
	}
	if guard != nil && common.session != "" {
		common.session += guard.Owner() // a session id belongs to one user
	}
	if err := common.checkAPI(r.Name, cmd.stable); err != nil {
		return nil, err
	}
	if r.Conn != nil {
		ctx = context.WithValue(ctx, connectionKey{}, r.Conn)
	}
	if common.maxTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, common.maxTime)
		defer cancel()
	}
	fields, err := c.transactions.withSession(ctx, r, common, cmd.retryable, func(ctx context.Context) (bson.D, error) {
		return c.faults.runWithFaults(ctx, r, cmd.run)
	})
	if guard != nil {
		c.claim(guard, fields)
	}
	if err == nil {
		c.sampleQueries(r)
	}
	return fields, interrupted(err)
}

// interrupted translates a context error into the server's error.
func interrupted(err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return status.Errorf(status.MaxTimeMSExpired, "operation exceeded time limit")
	case errors.Is(err, context.Canceled):
		return status.Errorf(status.InterruptedAtShutdown, "interrupted at shutdown")
	}
	return err
}

// common are the arguments that every command takes.
type common struct {
	maxTime       time.Duration
	session       string // raw bytes of lsid.id; empty without a session
	txn           int64  // meaningful when hasTxn
	hasTxn        bool
	starts        bool // the first statement of a transaction
	autocommit    bool // meaningful when hasAutocommit; false in a transaction
	hasAutocommit bool
	apiVersion    string
	apiStrict     bool
	apiOther      bool // apiDeprecationErrors is given
}

// parseCommon reads the common arguments. $clusterTime, $readPreference, readConcern
// and writeConcern are accepted and ignored: there are no replica sets.
func parseCommon(body bson.Raw) (common, error) {
	var a common
	for e := value.Read(body); e.Next(); {
		switch string(e.Key) {
		case "maxTimeMS":
			ms, ok := wholeNumber(e.Value)
			if !ok {
				return a, status.Errorf(status.BadValue, "maxTimeMS must be a number")
			}
			if ms < 0 || ms > 1<<31-1 {
				return a, status.Errorf(status.BadValue, "%d value for maxTimeMS is out of range [0, 2147483647]", ms)
			}
			a.maxTime = time.Duration(ms) * time.Millisecond
		case "lsid":
			if id, ok := e.Value.DocumentOK(); ok {
				a.session = string(id.Lookup("id").Value)
			}
		case "txnNumber":
			a.txn, a.hasTxn = wholeNumber(e.Value)
		case "startTransaction":
			a.starts = truthy(e.Value)
		case "autocommit":
			a.autocommit, a.hasAutocommit = truthy(e.Value), true
		case "apiVersion":
			a.apiVersion, _ = e.Value.StringValueOK()
		case "apiStrict":
			a.apiStrict, a.apiOther = truthy(e.Value), true
		case "apiDeprecationErrors":
			a.apiOther = true
		}
	}
	return a, nil
}

// checkAPI enforces the Stable API arguments (db/initialize_api_parameters.cpp).
func (a common) checkAPI(name string, stable bool) error {
	switch {
	case a.apiVersion == "" && a.apiOther:
		return status.Errorf(4886600, "Provided apiStrict and/or apiDeprecationErrors without passing apiVersion")
	case a.apiVersion == "":
		return nil
	case a.apiVersion != "1":
		return status.Errorf(status.APIVersionError, "API version must be \"1\"")
	case a.apiStrict && !stable:
		return status.Errorf(status.APIStrictError, "Provided apiStrict:true, but the command %s is not in API Version %s", name, a.apiVersion)
	}
	return nil
}

// commandName is the name of the command, which is its first field.
func commandName(body bson.Raw) string {
	if e := value.Read(body); e.Next() {
		return string(e.Key)
	}
	return ""
}

func databaseOf(body bson.Raw) (string, error) {
	db, ok := body.Lookup("$db").StringValueOK()
	if !ok {
		return "", status.Errorf(40571, "OP_MSG requests require a $db argument")
	}
	if db == "$external" {
		return db, nil
	}
	if db == "" || len(db) > 63 || strings.ContainsAny(db, "/\\. \"$\x00") {
		return "", status.Errorf(status.InvalidNamespace, "Invalid database name: '%s'", db)
	}
	return db, nil
}

// cut splits a namespace at its first dot.
func cut(ns string) (db, coll string, ok bool) { return strings.Cut(ns, ".") }

func isHello(name string) bool {
	return name == "hello" || engine.CurrentName(name) == "isMaster"
}

// commandTable holds every command of this mongos; others get CommandNotFound. The
// sharding commands come from the catalog.
func (c *Cluster) commandTable() map[string]command {
	table := map[string]command{
		"hello":     {run: c.hello, stable: true},
		"isMaster":  {run: c.hello},
		"ping":      {run: always(), stable: true},
		"buildInfo": {run: c.buildInfo},

		"find":        {run: c.find, stable: true},
		"getMore":     {run: c.getMore, stable: true},
		"killCursors": {run: c.killCursors, stable: true},
		"aggregate":   {run: c.aggregate, stable: true},
		"count":       {run: c.count, stable: c.version.atLeast(5, 0, 9)},
		"distinct":    {run: onCollection(c.distinct)},
		"explain":     {run: c.explain, stable: true},

		"insert":        {run: onCollection(c.insert), stable: true, retryable: true, writes: true},
		"update":        {run: onCollection(c.update), stable: true, retryable: true, writes: true},
		"delete":        {run: onCollection(c.delete), stable: true, retryable: true, writes: true},
		"findAndModify": {run: c.findAndModify, stable: true, retryable: true, writes: true},

		"create":           {run: onCollection(c.create), stable: true, writes: true},
		"drop":             {run: onCollection(c.drop), stable: true},
		"dropDatabase":     {run: c.dropDatabase, stable: true},
		"renameCollection": {run: c.renameCollection, adminOnly: true},
		"listCollections":  {run: c.listCollections, stable: true},
		"listDatabases":    {run: c.listDatabases, adminOnly: true, stable: true},
		"listIndexes":      {run: onCollection(c.listIndexes), stable: true},
		"createIndexes":    {run: onCollection(c.createIndexes), stable: true, writes: true},
		"dropIndexes":      {run: onCollection(c.dropIndexes), stable: true},

		"startSession":    {run: c.startSession},
		"endSessions":     {run: c.endSessions, stable: true},
		"killSessions":    {run: c.endSessions},
		"refreshSessions": {run: always(), stable: true},

		"killAllSessionsByPattern": {run: c.killSessionsByPattern},

		"commitTransaction": {run: c.transactions.endTransaction, adminOnly: true, stable: true},
		"abortTransaction":  {run: c.transactions.endTransaction, adminOnly: true, stable: true},

		"collStats":     {run: onCollection(c.collStats)},
		"dataSize":      {run: c.dataSize},
		"dbStats":       {run: c.dbStats},
		"serverStatus":  {run: c.serverStatus},
		"connPoolStats": {run: c.connPoolStats},
		"currentOp":     {run: c.currentOp, adminOnly: true},

		"getParameter":   {run: c.getParameter, adminOnly: true},
		"getCmdLineOpts": {run: c.getCmdLineOpts, adminOnly: true},
		"hostInfo":       {run: c.hostInfo},
		"whatsmyuri":     {run: c.whatsMyURI},
		"getLog":         {run: c.getLog, adminOnly: true},
		"isdbgrid":       {run: always("isdbgrid", int32(1), "hostname", hostname)},
	}
	for name, run := range c.access.Handlers() {
		table[name] = command{run: run, stable: name == "saslStart" || name == "saslContinue" || name == "authenticate"}
	}
	if c.opts.FaultCommand {
		table[faultCommand] = command{run: c.simulateFault, adminOnly: true}
	}
	if c.version.atLeast(7, 0, 0) {
		table["checkMetadataConsistency"] = command{run: c.checkMetadata}
	}
	for name, run := range c.catalog.Handlers() {
		table[name] = command{run: run, adminOnly: true}
	}
	return table
}

// guardOf is the session whose privileges limit a request. It is nil without access
// control, for internal requests and for the fault command.
func (c *Cluster) guardOf(r *engine.Request) *access.Session {
	if r.Conn == nil || !c.access.Enforced() || c.opts.FaultCommand && r.Name == faultCommand {
		return nil
	}
	return c.access.Of(r.Conn)
}

// checkPermission fails when the user may not run the command.
func (c *Cluster) checkPermission(s *access.Session, r *engine.Request) error {
	if err := c.access.Authorize(s, r); err != nil {
		return err
	}
	switch r.Name {
	case "getMore":
		if id, ok := r.Lookup("getMore").Int64OK(); ok && !c.cursors.ownedBy(id, s.Owner()) {
			return status.Errorf(status.Unauthorized, "cursor id %d was not created by the authenticated user", id)
		}
	case "killCursors":
		for v := range value.Items(r.Lookup("cursors")) {
			if id, ok := v.Int64OK(); ok && !c.cursors.ownedBy(id, s.Owner()) && !s.May(access.OnCluster(), "killAnyCursor") {
				return status.Errorf(status.Unauthorized, "not authorized on %s to execute command %s", r.DB, value.Text(value.Doc(r.Body)))
			}
		}
	}
	return nil
}

// claim makes the user the owner of the cursor in a reply, if there is one. No other
// client knows its id yet.
func (c *Cluster) claim(s *access.Session, reply bson.D) {
	if len(reply) == 0 || reply[0].Key != "cursor" {
		return
	}
	fields, _ := reply[0].Value.(bson.D)
	for _, f := range fields {
		if id, ok := f.Value.(int64); ok && f.Key == "id" && id != 0 {
			c.cursors.claim(id, s.Owner())
		}
	}
}

// mayListDatabase decides which databases a listDatabases shows: all with the
// listDatabases privilege, otherwise those on which the user has any privilege.
// authorizedDatabases selects one or the other.
func (c *Cluster) mayListDatabase(r *engine.Request) (func(db string) bool, error) {
	s := c.guardOf(r)
	if s == nil {
		return func(string) bool { return true }, nil
	}
	all := s.May(access.OnCluster(), "listDatabases")
	if own := r.Lookup("authorizedDatabases"); own.Type != 0 {
		if !truthy(own) && !all {
			return nil, status.Errorf(status.Unauthorized, "Insufficient permissions to list all databases")
		}
		all = !truthy(own)
	}
	return func(db string) bool { return all || s.MayAnythingIn(db) }, nil
}

// mayListCollection decides which collections a listCollections shows.
func (c *Cluster) mayListCollection(r *engine.Request) func(coll string) bool {
	s := c.guardOf(r)
	if s == nil || !truthy(r.Lookup("nameOnly")) || !truthy(r.Lookup("authorizedCollections")) {
		return func(string) bool { return true }
	}
	return func(coll string) bool { return s.MayAnythingOn(r.DB, coll) }
}
