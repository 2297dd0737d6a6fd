; What JavaScript and TypeScript share. Captures are explained in languages/__init__.py.
;
; What is so frequent or so large that a query of what is in it would take long, ecmascript.py looks into.

(function_declaration) @function @fields
(generator_function_declaration) @function @fields
(class_declaration) @class @fields
(method_definition) @method.member @fields

[(function_expression) (generator_function) (class)] @expression
(variable_declarator) @declarator
(pair) @pair
(assignment_expression) @assignment
(export_statement) @export
(new_expression) @made

(comment) @comment
(decorator) @attribute
(hash_bang_line) @trivia
(program . (expression_statement (string)) @trivia)

[(if_statement) (switch_case) (catch_clause) (ternary_expression)] @branch
[(for_statement) (for_in_statement) (while_statement) (do_statement)] @loop

(import_statement) @import
(call_expression function: [
  (identifier) @call
  (member_expression) @call
  (await_expression) @awaited
])
(call_expression function: (import)) @dynamic
