; What JavaScript and TypeScript share. Captures are explained in languages/__init__.py.
;
; Compiling goes through every state of these large grammars for each node that is named here with something inside it.
; So `@fields` stands for names and bodies, and `_` for a node that its fields tell as well: `(_ . function: …)` is a
; call_expression, `(_ . object: …)` a member_expression. Only a named node with something inside may come last in a
; pattern with such a `_`: tree-sitter takes what is in a `_` for sure to come, and would capture before it did.

(function_declaration) @function @fields
(generator_function_declaration) @function @fields
(class_declaration) @class @fields
(method_definition) @method.member @fields

; const f = () => …, const f = function …, const C = class …
(variable_declarator name: (identifier) @name value: [
  (arrow_function) (function_expression) (generator_function) (class) (object) (parenthesized_expression)
]) @valued
([(lexical_declaration . (variable_declarator value: [
    (arrow_function) (function_expression) (generator_function) (class) (call_expression)
    (parenthesized_expression)]))
  (variable_declaration . (variable_declarator value: [
    (arrow_function) (function_expression) (generator_function) (class) (call_expression)
    (parenthesized_expression)]))] @wrapper)

; const C = memo(() => …), const C = React.memo(forwardRef(function …))
(variable_declarator
  name: (identifier) @name
  value: (_ . function: (_) @_factory arguments: (arguments . [
    (arrow_function) @fields
    (function_expression) @fields
    (_ . function: (_) arguments: (arguments . [(arrow_function) (function_expression)] @fields))
  ]))
  (#match? @_factory "^(React\\.)?(memo|forwardRef|useCallback|lazy|observer|debounce|throttle)\\b")) @function.outer

; obj = { method() {}, arrow: () => {} }, register({ method() {} }), export default { … }
(variable_declarator name: (identifier) @name value: (_ . function: (_) arguments: (arguments (object) @members))) @scope
(export_statement value: (_ . function: (_) arguments: (arguments . (object) @members)))
(pair key: [(property_identifier) (string)] @name value: [
  (arrow_function) (function_expression) (generator_function) (object) (parenthesized_expression)
]) @valued.member

; exports.f = function …, Klass.prototype.f = () => …
(assignment_expression
  left: (_ . object: (_) @qualifier property: (_) @name)
  right: [
    (arrow_function) (function_expression) (generator_function) (class) (object) (parenthesized_expression)
  ]) @valued.outer
(expression_statement . (assignment_expression right: [
  (arrow_function) (function_expression) (generator_function) (class) (parenthesized_expression)])) @wrapper

; export default function () {}, export default () => …, export default class {}
(export_statement "default" @name value: [
  (arrow_function) (function_expression) (generator_function) (class) (object) (parenthesized_expression)
]) @valued.default
(export_statement declaration: (_)) @wrapper

(comment) @comment
(decorator) @attribute
(hash_bang_line) @trivia
(export_statement (export_clause) !source) @trivia
(program . (expression_statement (string)) @trivia)

(call_expression function: [
  (identifier) @call
  (member_expression) @call
  (await_expression [(identifier) (member_expression)] @call)
])
(new_expression constructor: [(identifier) (member_expression)] @call)

[(if_statement) (switch_case) (catch_clause) (ternary_expression)] @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop

(import_statement) @import
(export_statement source: (_)) @import
(call_expression function: (import)) @import.inner
(lexical_declaration (variable_declarator value: [
    (_ . function: (identifier) @_require arguments: (arguments . (string)))
    (_ . object: (_ . function: (identifier) @_require arguments: (arguments . (string))))
  ])
  (#eq? @_require "require")) @import
(variable_declaration
  (variable_declarator value: (_ . function: (identifier) @_require arguments: (arguments . (string))))
  (#eq? @_require "require")) @import
(expression_statement . (_ . function: (identifier) @_require arguments: (arguments . (string)))
  (#eq? @_require "require")) @import
