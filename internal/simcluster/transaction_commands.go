package simcluster

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// inTransaction runs a command that carries autocommit: false. Every error of a
// statement aborts its transaction.
func (ts *transactions) inTransaction(ctx context.Context, r *engine.Request, a common,
	run func(context.Context) (bson.D, error)) (bson.D, error) {
	if err := ts.checkTransactionArguments(r, a); err != nil {
		return nil, err
	}
	s := ts.sessions.lock(a.session)
	defer s.mu.Unlock()
	tx, err := ts.transactionFor(s, a, r.Name)
	if err != nil {
		return nil, labelled(err)
	}
	reply, err := run(context.WithValue(ctx, transactionKey{}, tx))
	ends := endsTransaction(r.Name)
	if err == nil && !ends && s.ended.Load() { // meanwhile, maybe before this command began its transaction
		err = notInProgress(tx.number)
	}
	switch {
	case err != nil && ends:
		return nil, labelled(interrupted(err))
	case err != nil:
		ts.abort(tx)
		return nil, labelled(interrupted(err))
	case slices.ContainsFunc(reply, func(e bson.E) bool { return e.Key == "writeErrors" }):
		ts.abort(tx)
	}
	token := bson.D{}
	if tx.recovery != "" {
		token = value.D("recoveryShardId", tx.recovery)
	}
	return append(reply, bson.E{Key: "recoveryToken", Value: token}), nil
}

// transactionFor starts the transaction of a command or finds it in the session, whose
// lock the caller holds.
func (ts *transactions) transactionFor(s *session, a common, name string) (*transaction, error) {
	tx := s.tx.Load()
	if e := s.earlier; tx == nil && e != nil && e.number == a.txn && endsTransaction(name) && ts.stateOf(e) == transactionCommitted {
		return e, nil
	}
	switch {
	case a.txn < s.txn:
		return nil, status.Errorf(status.TransactionTooOld, "txnNumber %d is less than last txnNumber %d seen in session %s",
			a.txn, s.txn, sessionText(a.session))
	case a.starts && a.txn == s.txn && (tx != nil || s.reply != nil):
		return nil, status.Errorf(status.ConflictingOperationInProgress, "txnNumber %d for session %s already started", a.txn,
			sessionText(a.session))
	case a.starts:
		if tx != nil {
			ts.abort(tx)
		}
		tx = ts.begin(a.txn)
		s.txn, s.reply = a.txn, nil
		s.tx.Store(tx)
		return tx, nil
	case tx == nil || tx.number != a.txn:
		return nil, status.Errorf(status.NoSuchTransaction, "cannot continue txnId %d for session %s with txnId %d",
			s.txn, sessionText(a.session), a.txn)
	case endsTransaction(name):
		return tx, nil
	}
	return tx, ts.mustBeOpen(tx)
}

func (ts *transactions) mustBeOpen(tx *transaction) error {
	switch ts.stateOf(tx) {
	case transactionCommitted:
		return status.Errorf(status.TransactionCommitted, "Transaction %d has been committed.", tx.number)
	case transactionAborted:
		return notInProgress(tx.number)
	}
	return nil
}

func (ts *transactions) stateOf(tx *transaction) transactionState {
	ts.catalog.Mu.RLock()
	defer ts.catalog.Mu.RUnlock()
	return tx.state
}

// checkTransactionArguments enforces what the arguments of a transaction's commands may
// be (db/initialize_operation_session_info.cpp, db/transaction_validation.cpp).
func (ts *transactions) checkTransactionArguments(r *engine.Request, a common) error {
	switch {
	case !a.hasTxn && a.hasAutocommit:
		return status.Errorf(status.InvalidOptions, "'autocommit' field requires a transaction number to also be specified")
	case !a.hasAutocommit:
		return status.Errorf(status.InvalidOptions, "'startTransaction' field requires 'autocommit' field to also be specified")
	case a.session == "":
		return status.Errorf(status.InvalidOptions, "Transaction number requires a session ID to also be specified")
	case a.autocommit:
		return status.Errorf(status.InvalidOptions, "autocommit:true is not supported for multi-document transactions")
	case endsTransaction(r.Name) && a.starts:
		return status.Errorf(status.OperationNotSupportedInTransaction,
			"Cannot run '%s' in a multi-document transaction with startTransaction.", r.Name)
	case endsTransaction(r.Name):
		return nil
	case hasKey(r.Body, "writeConcern"):
		return status.Errorf(status.InvalidOptions, "writeConcern is not allowed within a multi-statement transaction")
	}
	if err := allowedInTransaction(r); err != nil {
		return err
	}
	concern, err := document(r, "readConcern")
	if err != nil {
		return err
	}
	level, given := value.Field(concern, "level").StringValueOK()
	switch {
	case concern != nil && !a.starts:
		return status.Errorf(status.InvalidOptions, "Only the first command in a transaction may specify a readConcern")
	case given && level != "local" && level != "majority" && level != "snapshot":
		return status.Errorf(status.InvalidOptions, "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' "+
			"in order to run in a transaction")
	}
	return nil
}

// allowedInTransaction fails for commands and databases that no transaction may use.
func allowedInTransaction(r *engine.Request) error {
	switch r.Command() {
	case "find", "getMore", "killCursors", "aggregate", "distinct", "insert", "update", "delete", "findAndModify":
	case "count":
		return status.Errorf(status.OperationNotSupportedInTransaction, "Cannot run 'count' in a multi-document transaction. "+
			"Please see http://dochub.mongodb.org/core/transaction-count for a recommended alternative.")
	default:
		return status.Errorf(status.OperationNotSupportedInTransaction, "Cannot run '%s' in a multi-document transaction.", r.Name)
	}
	switch r.DB {
	case "config", "local", "admin":
		return status.Errorf(status.OperationNotSupportedInTransaction, "Cannot run command against the '%s' database in a transaction.", r.DB)
	}
	return nil
}

func endsTransaction(command string) bool {
	return command == "commitTransaction" || command == "abortTransaction"
}

// endTransaction is commitTransaction and abortTransaction. A commit may be repeated: a client does that when it got no
// answer.
func (ts *transactions) endTransaction(ctx context.Context, r *engine.Request) (bson.D, error) {
	tx := transactionOf(ctx)
	switch {
	case tx == nil:
		n, _ := wholeNumber(r.Lookup("txnNumber"))
		return nil, status.Errorf(status.NoSuchTransaction, "Given transaction number %d does not match any in-progress transactions.", n)
	case r.Name == "commitTransaction":
		return bson.D{}, ts.commit(tx)
	}
	if err := ts.mustBeOpen(tx); err != nil {
		return nil, err
	}
	ts.abort(tx)
	return bson.D{}, nil
}

// transient reports whether the client may try the whole transaction again after an
// error (db/commands/txn_cmds, isTransientTransactionError).
func transient(err error) bool {
	var e *status.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case status.WriteConflict, status.LockTimeout, status.NoSuchTransaction, status.SnapshotUnavailable, status.MigrationConflict,
		status.StaleConfig, status.StaleDbVersion, status.InterruptedAtShutdown, status.NotWritablePrimary:
		return true
	}
	return false
}

// labelled adds the label TransientTransactionError to such an error.
func labelled(err error) error {
	if !transient(err) {
		return err
	}
	e := *status.Of(err)
	e.Extra = append(slices.Clip(e.Extra), bson.E{Key: "errorLabels", Value: bson.A{"TransientTransactionError"}})
	return &e
}

// sessionText is a session's uuid in messages.
func sessionText(id string) string {
	if len(id) < sessionIDSize {
		return "unknown"
	}
	return hex.EncodeToString([]byte(id[sessionIDSize-16 : sessionIDSize]))
}
