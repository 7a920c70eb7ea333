package status

import (
	"strconv"
	"strings"
)

// Name is the code's name, or "Location<code>" for an unnamed assertion, as in the
// server.
func Name(code int32) string {
	number := strconv.Itoa(int(code))
	for entry := range strings.FieldsSeq(names) {
		if c, name, _ := strings.Cut(entry, ":"); c == number {
			return name
		}
	}
	return "Location" + number
}

// names has "code:name" in the order of codes, of those that a router or a shard returns here or that a fault may
// return. A string constant avoids package variables; errors are rare enough to search it.
const names = `
1:InternalError 2:BadValue 4:NoSuchKey 5:GraphContainsCycle 6:HostUnreachable 7:HostNotFound 8:UnknownError
9:FailedToParse 10:CannotMutateObject 11:UserNotFound 12:UnsupportedFormat 13:Unauthorized 14:TypeMismatch 15:Overflow
16:InvalidLength 17:ProtocolError 18:AuthenticationFailed 19:CannotReuseObject 20:IllegalOperation 22:InvalidBSON
23:AlreadyInitialized 24:LockTimeout 25:RemoteValidationError 26:NamespaceNotFound 27:IndexNotFound 28:PathNotViable
30:InvalidPath 31:RoleNotFound 32:RolesNotRelated 34:CannotBackfillArray 35:UserModificationFailed
40:ConflictingUpdateOperators 43:CursorNotFound 45:UserDataInconsistent 46:LockBusy 47:NoMatchingDocument
48:NamespaceExists 49:InvalidRoleModification 50:MaxTimeMSExpired 52:DollarPrefixedFieldName 53:InvalidIdField
54:NotSingleValueField 55:InvalidDBRef 56:EmptyFieldName 59:CommandNotFound 61:ShardKeyNotFound 63:StaleShardVersion
64:WriteConcernFailed 65:MultipleErrorsOccurred 66:ImmutableField 67:CannotCreateIndex 70:ShardNotFound
72:InvalidOptions 73:InvalidNamespace 85:IndexOptionsConflict 86:IndexKeySpecsConflict 87:CannotSplit 89:NetworkTimeout
90:CallbackCanceled 91:ShutdownInProgress 93:InvalidReplicaSetConfig 96:OperationFailed 97:NoProjectionFound
100:UnsatisfiableWriteConcern 101:OutdatedClient 105:IncompatibleShardingMetadata 107:LockFailed
109:ConfigurationInProgress 112:WriteConflict 115:CommandNotSupported 117:ConflictingOperationInProgress
118:NamespaceNotSharded 121:DocumentValidationFailure 125:CommandFailed 126:RPCProtocolNegotiationFailed
127:UnrecoverableRollbackError 128:LockNotFound 133:FailedToSatisfyReadPreference 134:ReadConcernMajorityNotAvailableYet
136:CappedPositionLost 146:ExceededMemoryLimit 150:StaleEpoch 153:ChunkTooBig 163:ZoneStillInUse
168:InvalidPipelineOperator 171:CannotIndexParallelArrays 175:QueryPlanKilled 177:ZoneNotFound 178:RangeOverlapConflict
189:PrimarySteppedDown 194:BalancerInterrupted 200:ChunkRangeCleanupPending 202:NetworkInterfaceExceededTimeLimit
225:TransactionTooOld 237:CursorKilled 242:CannotCreateCollection 246:SnapshotUnavailable 249:StaleDbVersion
251:NoSuchTransaction 256:TransactionCommitted 262:ExceededTimeLimit 263:OperationNotSupportedInTransaction
272:MigrationConflict 279:ClientDisconnect 319:MovePrimaryInProgress 322:APIVersionError 323:APIStrictError
338:ReshardCollectionInProgress 339:NoSuchReshardCollection 340:ReshardCollectionCommitted 341:ReshardCollectionAborted
9001:SocketException 10107:NotWritablePrimary 10334:BSONObjectTooLarge 11000:DuplicateKey 11600:InterruptedAtShutdown
11601:Interrupted 11602:InterruptedDueToReplStateChange 13388:StaleConfig 13435:NotPrimaryNoSecondaryOk
13436:NotPrimaryOrSecondary 14031:OutOfDiskSpace
`

// Error codes of the simulated server (src/mongo/base/error_codes.yml, MongoDB 5.0).
// The table of names has more codes, for errors that a fault returns.
const (
	InternalError                      int32 = 1
	BadValue                           int32 = 2
	NoSuchKey                          int32 = 4
	UnknownError                       int32 = 8
	FailedToParse                      int32 = 9
	Unauthorized                       int32 = 13
	TypeMismatch                       int32 = 14
	Overflow                           int32 = 15
	AuthenticationFailed               int32 = 18
	IllegalOperation                   int32 = 20
	InvalidBSON                        int32 = 22
	LockTimeout                        int32 = 24
	NamespaceNotFound                  int32 = 26
	IndexNotFound                      int32 = 27
	PathNotViable                      int32 = 28
	CannotBackfillArray                int32 = 34
	ConflictingUpdateOperators         int32 = 40
	CursorNotFound                     int32 = 43
	LockBusy                           int32 = 46
	NoMatchingDocument                 int32 = 47
	NamespaceExists                    int32 = 48
	MaxTimeMSExpired                   int32 = 50
	DollarPrefixedFieldName            int32 = 52
	InvalidIdField                     int32 = 53
	NotSingleValueField                int32 = 54
	EmptyFieldName                     int32 = 56
	CommandNotFound                    int32 = 59
	ShardKeyNotFound                   int32 = 61
	ImmutableField                     int32 = 66
	CannotCreateIndex                  int32 = 67
	ShardNotFound                      int32 = 70
	InvalidOptions                     int32 = 72
	InvalidNamespace                   int32 = 73
	IndexOptionsConflict               int32 = 85
	IndexKeySpecsConflict              int32 = 86
	CannotSplit                        int32 = 87
	OperationFailed                    int32 = 96
	IncompatibleShardingMetadata       int32 = 105
	WriteConflict                      int32 = 112
	CommandNotSupported                int32 = 115
	ConflictingOperationInProgress     int32 = 117
	NamespaceNotSharded                int32 = 118
	DocumentValidationFailure          int32 = 121
	FailedToSatisfyReadPreference      int32 = 133
	ExceededMemoryLimit                int32 = 146
	StaleEpoch                         int32 = 150
	ChunkTooBig                        int32 = 153
	ZoneStillInUse                     int32 = 163
	InvalidPipelineOperator            int32 = 168
	CannotIndexParallelArrays          int32 = 171
	QueryPlanKilled                    int32 = 175
	ZoneNotFound                       int32 = 177
	RangeOverlapConflict               int32 = 178
	BalancerInterrupted                int32 = 194
	ChunkRangeCleanupPending           int32 = 200
	NetworkInterfaceExceededTimeLimit  int32 = 202
	TransactionTooOld                  int32 = 225
	CappedPositionLost                 int32 = 136
	CursorKilled                       int32 = 237
	SnapshotUnavailable                int32 = 246
	StaleDbVersion                     int32 = 249
	NoSuchTransaction                  int32 = 251
	TransactionCommitted               int32 = 256
	OperationNotSupportedInTransaction int32 = 263
	MigrationConflict                  int32 = 272
	ClientDisconnect                   int32 = 279
	MovePrimaryInProgress              int32 = 319
	APIVersionError                    int32 = 322
	APIStrictError                     int32 = 323
	ReshardCollectionInProgress        int32 = 338
	NoSuchReshardCollection            int32 = 339
	ReshardCollectionCommitted         int32 = 340
	ReshardCollectionAborted           int32 = 341
	NotWritablePrimary                 int32 = 10107
	BSONObjectTooLarge                 int32 = 10334
	DuplicateKey                       int32 = 11000
	InterruptedAtShutdown              int32 = 11600
	Interrupted                        int32 = 11601
	InterruptedByStepDown              int32 = 11602 // InterruptedDueToReplStateChange
	StaleConfig                        int32 = 13388
)
