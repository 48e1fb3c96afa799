// Boolean routing expressions, rule D5. Keywords are case-insensitive; NOT binds over AND over OR.
//
// The text reaches this grammar with every byte as one character, its strings and nesting already checked
// (compiler/expr/prescan.h). The left recursion is spelled as loops, so that the parser's stack grows with parentheses
// and NOT alone, which are bounded.
grammar RouteExpr;

expression : disjunction EOF ;

// A claim about what becomes of requests (`edgectl assert`): its comparisons may also ask where a request comes in and
// where it ends.
claim : disjunction (IMPLIES disjunction)? EOF ;

disjunction : conjunction (OR conjunction)* ;

conjunction : negation (AND negation)* ;

negation
    : NOT negation
    | OPEN disjunction CLOSE
    | comparison
    ;

comparison
    : (HEADER | QUERY | METHOD) (EQUAL | DIFFERS) STRING
    | CLAIM (EQUAL | DIFFERS | CONTAINS) STRING
    | PATH (EXACT | PREFIX | CONTAINS) STRING
    | SOURCE_IP IN STRING
    | fact
    ;

// Of claims alone; an expression with one is refused by name.
fact
    : HOST (EQUAL | DIFFERS | IN) STRING
    | (GATEWAY | LISTENER) (EQUAL | DIFFERS) (STRING | WORD)
    | (ROUTE | BACKEND | POLICY | STATUS) (STRING | WORD)
    | DENIED
    ;

AND : [Aa] [Nn] [Dd] ;
OR : [Oo] [Rr] ;
NOT : [Nn] [Oo] [Tt] ;
METHOD : [Mm] [Ee] [Tt] [Hh] [Oo] [Dd] ;
PATH : [Pp] [Aa] [Tt] [Hh] ;
EXACT : [Ee] [Xx] [Aa] [Cc] [Tt] ;
PREFIX : [Pp] [Rr] [Ee] [Ff] [Ii] [Xx] ;
CONTAINS : [Cc] [Oo] [Nn] [Tt] [Aa] [Ii] [Nn] [Ss] ;
SOURCE_IP : [Ss] [Oo] [Uu] [Rr] [Cc] [Ee] '_' [Ii] [Pp] ;
IN : [Ii] [Nn] ;
IMPLIES : [Ii] [Mm] [Pp] [Ll] [Ii] [Ee] [Ss] ;
HOST : [Hh] [Oo] [Ss] [Tt] ;
GATEWAY : [Gg] [Aa] [Tt] [Ee] [Ww] [Aa] [Yy] ;
LISTENER : [Ll] [Ii] [Ss] [Tt] [Ee] [Nn] [Ee] [Rr] ;
ROUTE : [Rr] [Oo] [Uu] [Tt] [Ee] ;
BACKEND : [Bb] [Aa] [Cc] [Kk] [Ee] [Nn] [Dd] ;
POLICY : [Pp] [Oo] [Ll] [Ii] [Cc] [Yy] ;
STATUS : [Ss] [Tt] [Aa] [Tt] [Uu] [Ss] ;
DENIED : [Dd] [Ee] [Nn] [Ii] [Ee] [Dd] ;

// The name is a token (RFC 9110 section 5.6.2) less `!`, so that `header:a!="b"` reads as it looks; or a string.
HEADER : [Hh] [Ee] [Aa] [Dd] [Ee] [Rr] ':' (NAME_CHAR+ | STRING) ;
QUERY : [Qq] [Uu] [Ee] [Rr] [Yy] ':' ((NAME_CHAR | [:/@;,[\]] )+ | STRING) ;
CLAIM : [Cc] [Ll] [Aa] [Ii] [Mm] ':' ((NAME_CHAR | [:/@;,[\]] )+ | STRING) ;

EQUAL : '==' ;
DIFFERS : '!=' ;
OPEN : '(' ;
CLOSE : ')' ;
STRING : '"' (~["\\\r\n] | '\\' ["\\])* '"' ;

SPACE : [ \t\r\n]+ -> skip ;

// Whatever else looks like a word, a number or `namespace/name` is one token, so that a diagnostic can quote it whole.
WORD : [A-Za-z0-9_] [A-Za-z0-9_\-./]* ;
OTHER : . ;

fragment NAME_CHAR : [A-Za-z0-9#$%&'*+\-.^_`|~] ;
