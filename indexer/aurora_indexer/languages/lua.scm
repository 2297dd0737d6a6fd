; Captures are explained in languages/__init__.py.

(function_declaration name: [(identifier) (dot_index_expression)] @name) @function
(function_declaration name: (method_index_expression) @name) @method
(function_declaration body: (_) @body)
(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list . value: (function_definition) .)) @function
(assignment_statement
  (variable_list . name: (bracket_index_expression table: (_) @qualifier field: (string) @name) .)
  (expression_list . value: (function_definition) .)) @function
(assignment_statement
  (variable_list . name: [(identifier) (dot_index_expression)] @name .)
  (expression_list . value: (table_constructor) @members .)) @scope
(field name: [(identifier) (string)] @name value: (function_definition)) @method.member @function
(field name: [(identifier) (string)] @name value: (table_constructor) @members) @scope.member
(return_statement (expression_list . (table_constructor) @members .))
(function_definition body: (_) @body)
(variable_declaration (assignment_statement)) @wrapper

(comment) @comment
(hash_bang_line) @trivia

(function_call name: [(identifier) (dot_index_expression) (method_index_expression)] @call)

[(if_statement) (elseif_statement)] @branch
[(for_statement) (while_statement) (repeat_statement)] @loop

(function_call name: (identifier) @_require (#eq? @_require "require")) @import
