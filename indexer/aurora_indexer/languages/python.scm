; Captures are explained in languages/__init__.py.

(function_definition name: (identifier) @name body: (_) @body) @function
(class_definition name: (identifier) @name body: (_) @body) @class
(type_alias_statement left: (type [(identifier) @name (generic_type . (identifier) @name)])) @type

(decorated_definition) @wrapper
(decorator) @attribute
(comment) @comment

(module [(string) (concatenated_string)] @doc)
(block . [(string) (concatenated_string)] @doc)

(call function: [(identifier) (attribute)] @call)
(class_definition superclasses: (argument_list [
  (identifier) @inherits
  (attribute) @inherits
  (subscript value: [(identifier) (attribute)] @inherits)
]))

[(if_statement) (elif_clause) (except_clause) (conditional_expression) (case_clause)] @branch
[(for_statement) (while_statement)] @loop

[(import_statement) (import_from_statement) (future_import_statement)] @import
