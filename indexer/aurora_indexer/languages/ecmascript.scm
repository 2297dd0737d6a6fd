; What JavaScript and TypeScript share. Captures are explained in languages/__init__.py.

(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(method_definition name: (_) @name body: (_) @body) @method.member

; const f = () => …, const f = function …, const C = class …
(variable_declarator name: (identifier) @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
([(lexical_declaration . (variable_declarator value: [
    (arrow_function) (function_expression) (generator_function) (class) (call_expression)]))
  (variable_declaration . (variable_declarator value: [
    (arrow_function) (function_expression) (generator_function) (class) (call_expression)]))] @wrapper)

; const C = memo(() => …), const C = React.memo(forwardRef(function …))
(variable_declarator
  name: (identifier) @name
  value: (call_expression function: (_) @_factory arguments: (arguments . [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (call_expression arguments: (arguments . [
      (arrow_function body: (_) @body)
      (function_expression body: (_) @body)
    ]))
  ]))
  (#match? @_factory "^(React\\.)?(memo|forwardRef|useCallback|lazy|observer|debounce|throttle)\\b")) @function.outer

; obj = { method() {}, arrow: () => {} }, register({ method() {} }), export default { … }
(variable_declarator name: (identifier) @name value: (object) @members) @scope
(variable_declarator name: (identifier) @name value: (call_expression arguments: (arguments (object) @members))) @scope
(export_statement value: (object) @members)
(export_statement value: (call_expression arguments: (arguments . (object) @members)))
(assignment_expression left: (member_expression) right: (object) @members)
(pair key: [(property_identifier) (string)] @name value: (object) @members) @scope.member
(pair key: [(property_identifier) (string)] @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @method.member

; exports.f = function …, Klass.prototype.f = () => …
(assignment_expression
  left: (member_expression object: (_) @qualifier property: (_) @name)
  right: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @function.outer
(assignment_expression
  left: (member_expression object: (_) @qualifier property: (_) @name)
  right: (class body: (_) @body)) @class.outer
(expression_statement . (assignment_expression right: [
  (arrow_function) (function_expression) (generator_function) (class)])) @wrapper

; export default function () {}, export default () => …, export default class {}
(export_statement "default" @name value: [
  (arrow_function body: (_) @body)
  (function_expression body: (_) @body)
  (generator_function body: (_) @body)
]) @function
(export_statement "default" @name value: (class body: (_) @body)) @class
(export_statement declaration: (_)) @wrapper

(comment) @comment
(decorator) @attribute
(hash_bang_line) @trivia
(export_statement (export_clause) !source) @trivia
(program . (expression_statement (string)) @trivia)

(call_expression function: [(identifier) (member_expression)] @call)
(call_expression function: (await_expression [(identifier) (member_expression)] @call))
(new_expression constructor: [(identifier) (member_expression)] @call)

[(if_statement) (switch_case) (catch_clause) (ternary_expression)] @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop

(import_statement) @import
(export_statement source: (_)) @import
(call_expression function: (import)) @import.inner
(lexical_declaration (variable_declarator value: (call_expression function: (identifier) @_require arguments: (arguments . (string))))
  (#eq? @_require "require")) @import
(variable_declaration (variable_declarator value: (call_expression function: (identifier) @_require arguments: (arguments . (string))))
  (#eq? @_require "require")) @import
(lexical_declaration (variable_declarator value: (member_expression
  object: (call_expression function: (identifier) @_require arguments: (arguments . (string)))))
  (#eq? @_require "require")) @import
(expression_statement . (call_expression function: (identifier) @_require arguments: (arguments . (string)))
  (#eq? @_require "require")) @import
